//! What the code under test writes to its log, as the functions would print it: JSON lines.
//!
//! One subscriber serves the whole process, for `tracing` remembers of every log line whether anybody
//! listens, and what it remembers of one thread's subscriber would hold for the others too. Whose
//! lines they are is told by the thread.

use std::cell::RefCell;
use std::io;
use std::marker::PhantomData;
use std::rc::Rc;
use std::sync::Once;

use tracing_subscriber::EnvFilter;
use tracing_subscriber::fmt::MakeWriter;

/// Everything of ours, and what the functions print of everybody else's.
const FILTER: &str = "info,ackbox_config=trace,ackbox_dispatcher=trace,ackbox_domain=trace,\
    ackbox_outbound=trace,ackbox_receiver=trace,ackbox_secrets=trace,ackbox_signature=trace,\
    ackbox_store=trace";

thread_local! {
    /// What this thread has logged, while somebody collects it.
    static LINES: RefCell<Option<Vec<u8>>> = const { RefCell::new(None) };
}

/// Collects the log of this thread until it is dropped. Tests that use it run on one thread.
#[derive(Debug)]
pub struct Log {
    /// It stays on its thread.
    _here: PhantomData<Rc<()>>,
}

impl Log {
    /// Starts to collect.
    pub fn collect() -> Self {
        static ONCE: Once = Once::new();
        ONCE.call_once(|| {
            tracing_subscriber::fmt()
                .json()
                .flatten_event(true)
                .with_current_span(false)
                .with_env_filter(EnvFilter::new(FILTER))
                .with_writer(ToItsThread)
                .init();
        });
        LINES.replace(Some(Vec::new()));
        Self { _here: PhantomData }
    }

    /// Everything so far.
    pub fn text(&self) -> String {
        LINES.with_borrow(|lines| {
            String::from_utf8_lossy(lines.as_deref().unwrap_or_default()).into_owned()
        })
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

impl Drop for Log {
    fn drop(&mut self) {
        LINES.replace(None);
    }
}

#[derive(Clone, Copy, Debug)]
struct ToItsThread;

impl io::Write for ToItsThread {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        LINES.with_borrow_mut(|lines| {
            if let Some(lines) = lines {
                lines.extend_from_slice(bytes);
            }
        });
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl<'w> MakeWriter<'w> for ToItsThread {
    type Writer = Self;

    fn make_writer(&'w self) -> Self {
        Self
    }
}
