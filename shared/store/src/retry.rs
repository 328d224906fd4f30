//! One loop around every operation: what passes by itself is repeated with jitter until the caller's
//! deadline; everything else is returned at once. A condition that failed never comes here as an error.

use std::time::Duration;

use tokio::time::{Instant, sleep, timeout_at};

use crate::{Deadline, StoreError};

/// The longest first wait. Collisions of transactions are over within milliseconds.
const FIRST_WAIT: Duration = Duration::from_millis(10);

/// The longest wait between two tries.
const MAX_WAIT: Duration = Duration::from_millis(400);

/// How long a read without a deadline of its own may take.
const READ_BUDGET: Duration = Duration::from_secs(5);

/// The deadline of a read that starts now.
pub(crate) fn read_deadline() -> Deadline {
    Instant::now() + READ_BUDGET
}

/// Repeats `once` while it fails with what passes by itself, until `deadline`.
///
/// A try that is cut off by the deadline may have been carried out.
pub(crate) async fn within<T, F>(
    deadline: Deadline,
    operation: &'static str,
    mut once: impl FnMut() -> F,
) -> Result<T, StoreError>
where
    F: Future<Output = Result<T, StoreError>>,
{
    let mut last = None;
    for tries in 0.. {
        let Ok(answer) = timeout_at(deadline, once()).await else {
            break;
        };
        match answer {
            Err(error) if error.is_retryable() => last = Some(error),
            done => return done,
        }
        let wait = wait_after(tries);
        if Instant::now() + wait >= deadline {
            break;
        }
        sleep(wait).await;
    }
    Err(last.unwrap_or(StoreError::Unavailable {
        operation,
        source: None,
    }))
}

/// Full jitter: anything between nothing and a bound that doubles.
fn wait_after(tries: u32) -> Duration {
    let doubled = 2_u32.saturating_pow(tries);
    FIRST_WAIT
        .saturating_mul(doubled)
        .min(MAX_WAIT)
        .mul_f64(fastrand::f64())
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;

    fn unavailable() -> StoreError {
        StoreError::Unavailable {
            operation: "test",
            source: None,
        }
    }

    #[tokio::test(start_paused = true)]
    async fn what_passes_is_repeated_and_the_first_answer_ends_it() {
        let calls = Cell::new(0);
        let deadline = Instant::now() + Duration::from_secs(8);
        let answer = within(deadline, "test", || async {
            calls.set(calls.get() + 1);
            if calls.get() < 4 {
                return Err(unavailable());
            }
            Ok(calls.get())
        });
        assert_eq!(answer.await.unwrap(), 4);
    }

    #[tokio::test(start_paused = true)]
    async fn a_deadline_ends_repetition_and_a_stalled_try() {
        let start = Instant::now();
        let deadline = start + Duration::from_secs(3);
        let calls = Cell::new(0);
        let busy = within::<(), _>(deadline, "test", || async {
            calls.set(calls.get() + 1);
            Err(unavailable())
        });
        assert!(busy.await.unwrap_err().is_retryable());
        assert!(Instant::now() <= deadline);
        assert!((5..1000).contains(&calls.get()), "{}", calls.get());
        let stalled = within::<(), _>(deadline, "test", std::future::pending);
        assert!(stalled.await.unwrap_err().is_retryable());
        assert!(Instant::now() <= deadline + Duration::from_millis(2));
    }

    #[tokio::test]
    async fn what_does_not_pass_is_not_repeated() {
        let calls = Cell::new(0);
        let answer = within::<(), _>(read_deadline(), "test", || async {
            calls.set(calls.get() + 1);
            Err(StoreError::TooLarge { bytes: 1 })
        });
        assert!(answer.await.is_err());
        assert_eq!(calls.get(), 1);
    }
}
