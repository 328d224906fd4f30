//! A system's status service on loopback: it is asked about a job that nobody told of, does not know it at
//! first, calls it pending then, and tells its end as soon as it may. It keeps what it said.

use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use super::destination::{Behaviour, Destination, Received};

/// What was said of a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Said {
    /// It is not known there.
    NotFound,
    /// It goes on.
    Pending,
    /// It has ended.
    Completed,
}

impl Said {
    const fn status(self) -> u16 {
        match self {
            Self::NotFound => 404,
            Self::Pending | Self::Completed => 200,
        }
    }

    const fn body(self) -> &'static str {
        match self {
            Self::NotFound => include_str!("bodies/openrouter-lookup-unknown.json"),
            Self::Pending => include_str!("bodies/openrouter-lookup-pending.json"),
            Self::Completed => include_str!("bodies/openrouter-lookup-completed.json"),
        }
    }

    /// In a word.
    pub const fn word(self) -> &'static str {
        match self {
            Self::NotFound => "404",
            Self::Pending => "pending",
            Self::Completed => "completed",
        }
    }
}

/// The status service.
#[derive(Debug)]
pub struct StatusService {
    server: Destination,
    said: Arc<Mutex<Vec<Said>>>,
    may_tell: Arc<AtomicBool>,
}

impl StatusService {
    /// Starts one.
    ///
    /// # Errors
    ///
    /// No loopback port can be had.
    pub async fn start() -> io::Result<Self> {
        let said: Arc<Mutex<Vec<Said>>> = Arc::default();
        let may_tell: Arc<AtomicBool> = Arc::default();
        let (own, may) = (Arc::clone(&said), Arc::clone(&may_tell));
        let script = move |question: &Received| {
            let says = match question.seen {
                1 => Said::NotFound,
                number if number > 2 && may.load(Ordering::SeqCst) => Said::Completed,
                _ => Said::Pending,
            };
            own.lock()
                .unwrap_or_else(PoisonError::into_inner)
                .push(says);
            Behaviour::Answer {
                status: says.status(),
                headers: vec![("content-type".to_owned(), "application/json".to_owned())],
                body: says.body().to_owned(),
            }
        };
        Ok(Self {
            server: Destination::start(script).await?,
            said,
            may_tell,
        })
    }

    /// The URL of a path (with its leading slash) here.
    pub fn url(&self, path: &str) -> String {
        self.server.url(path)
    }

    /// From now on the job may have ended.
    pub fn may_tell(&self) {
        self.may_tell.store(true, Ordering::SeqCst);
    }

    /// Every question in the order of reading, and what was said.
    pub fn asked(&self) -> Vec<(Received, Said)> {
        let said = self.said.lock().unwrap_or_else(PoisonError::into_inner);
        let said = said.clone();
        self.server.received().into_iter().zip(said).collect()
    }
}
