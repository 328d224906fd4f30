//! The time that one attempt has, in all its stages together.

use std::time::Duration;

use tokio::time::{Instant, timeout_at};

use crate::NotSent;

/// When an attempt must have ended.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Deadline {
    began: Instant,
    total: Duration,
}

impl Deadline {
    /// Nothing waits longer than this, so that no sum of times overflows.
    const LONGEST: Duration = Duration::from_secs(3600);

    pub(crate) fn in_time(total: Duration) -> Self {
        Self {
            began: Instant::now(),
            total: total.min(Self::LONGEST),
        }
    }

    pub(crate) fn at(&self) -> Instant {
        self.began + self.total
    }

    pub(crate) fn total(&self) -> Duration {
        self.total
    }

    pub(crate) fn elapsed(&self) -> Duration {
        self.began.elapsed()
    }

    pub(crate) fn remaining(&self) -> Duration {
        self.total.saturating_sub(self.elapsed())
    }

    /// Waits for a stage that comes before the request; says what it was about if the time is up.
    pub(crate) async fn guard<T>(
        &self,
        doing: &str,
        stage: impl Future<Output = T>,
    ) -> Result<T, NotSent> {
        timeout_at(self.at(), stage)
            .await
            .map_err(|_| NotSent(format!("the time ({:?}) was up while {doing}", self.total)))
    }
}
