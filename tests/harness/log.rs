//! What the code under test writes to its log, as the functions would print it: JSON lines.

use std::io;
use std::sync::{Arc, Mutex, PoisonError};

use tracing::subscriber::DefaultGuard;
use tracing_subscriber::EnvFilter;
use tracing_subscriber::fmt::MakeWriter;

/// Collects the log of this thread until it is dropped. Tests that use it run on one thread.
#[derive(Debug)]
pub struct Log {
    lines: Lines,
    _collecting: DefaultGuard,
}

#[derive(Clone, Debug, Default)]
struct Lines(Arc<Mutex<Vec<u8>>>);

impl Log {
    /// Starts to collect what this filter lets through (`info,ackbox_store=trace`), in the functions' format.
    pub fn collect(filter: &str) -> Self {
        let lines = Lines::default();
        let subscriber = tracing_subscriber::fmt()
            .json()
            .flatten_event(true)
            .with_current_span(false)
            .with_env_filter(EnvFilter::new(filter))
            .with_writer(lines.clone())
            .finish();
        Self {
            lines,
            _collecting: tracing::subscriber::set_default(subscriber),
        }
    }

    /// Everything so far.
    pub fn text(&self) -> String {
        let bytes = self.lines.0.lock().unwrap_or_else(PoisonError::into_inner);
        String::from_utf8_lossy(&bytes).into_owned()
    }

    /// The lines with this message, as JSON.
    pub fn lines(&self, message: &str) -> Vec<serde_json::Value> {
        self.text()
            .lines()
            .filter_map(|line| serde_json::from_str(line).ok())
            .filter(|line: &serde_json::Value| line["message"] == message)
            .collect()
    }
}

impl io::Write for Lines {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut lines = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        lines.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl<'w> MakeWriter<'w> for Lines {
    type Writer = Self;

    fn make_writer(&'w self) -> Self {
        self.clone()
    }
}
