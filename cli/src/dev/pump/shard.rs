//! Reads one shard to its end: records come in, filtered, and go out in batches. The place in the shard
//! is kept as a sequence number, so that an iterator may expire at any time.

use std::future::Future;
use std::time::Duration;

use aws_sdk_dynamodbstreams::error::{ProvideErrorMetadata, SdkError};
use aws_sdk_dynamodbstreams::operation::get_records::GetRecordsOutput;
use aws_sdk_dynamodbstreams::types::{ShardIteratorType, StreamRecord};
use serde_json::Value;
use tokio::time::Instant;

use super::Shared;
use super::batch::{self, Waiting};
use super::record::{self, Ready};
use crate::dev::invoke::InvocationError;

/// How long to wait after a reading that gave nothing: at first, and at most. The longest keeps to the
/// five reads per second and shard that DynamoDB allows ("Service quotas", DynamoDB Streams).
const IDLE: (Duration, Duration) = (Duration::from_millis(20), Duration::from_millis(250));

/// How long to wait after a reading that failed: at first, and at most.
const FAILED: (Duration, Duration) = (Duration::from_millis(100), Duration::from_secs(10));

/// How a shard ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum End {
    /// It is closed, and all of it was handed over.
    Finished,
    /// It is not there any more: trimmed, or its stream is gone.
    Gone,
    /// The pump stops.
    Stopped,
}

/// Why a reading gave nothing.
#[derive(Debug)]
enum Unread {
    /// The iterator is older than 15 minutes.
    Expired,
    /// The place has been trimmed away, or was never one: begin at the oldest record there is.
    Trimmed,
    Gone,
    /// Throttled, not reachable, or anything else that may pass.
    Failed(String),
}

/// One shard, and the place in it up to which it was read.
pub(super) struct Reader<'s, I> {
    shared: &'s Shared<I>,
    shard: &'s str,
    /// The last record read. It may be ahead of the checkpoint.
    read: Option<String>,
    iterator: Option<String>,
    waiting: Waiting,
}

impl<'s, I, F> Reader<'s, I>
where
    I: Fn(Value) -> F,
    F: Future<Output = Result<Value, InvocationError>>,
{
    pub(super) fn new(shared: &'s Shared<I>, shard: &'s str) -> Self {
        Self {
            shared,
            shard,
            read: shared.checkpoints.after(shard),
            iterator: None,
            waiting: Waiting::default(),
        }
    }

    /// Reads and hands over until the shard ends or the pump stops. May be dropped at any point.
    pub(super) async fn run(mut self) -> End {
        let mut idle = IDLE.0;
        let mut failed = FAILED.0;
        let mut stop = self.shared.stop.clone();
        loop {
            let read = tokio::select! {
                biased;
                _ = stop.wait_for(|stop| *stop) => return End::Stopped,
                read = self.read_once() => read,
            };
            // Not to be broken off: an invocation that runs is awaited.
            let wait = match read {
                Ok(None) => {
                    self.hand_over_all().await;
                    return End::Finished;
                }
                Ok(Some(0)) => {
                    self.hand_over_ready().await;
                    failed = FAILED.0;
                    grown(&mut idle, IDLE.1)
                }
                Ok(Some(_)) => {
                    self.hand_over_ready().await;
                    (idle, failed) = (IDLE.0, FAILED.0);
                    continue;
                }
                Err(Unread::Gone) => return End::Gone,
                Err(Unread::Expired) => IDLE.0,
                Err(Unread::Trimmed) => {
                    self.restart();
                    IDLE.0
                }
                Err(Unread::Failed(why)) => {
                    if failed == FAILED.0 {
                        tracing::warn!(error = %why, shard = self.shard, "stream.unreadable");
                    }
                    grown(&mut failed, FAILED.1)
                }
            };
            tokio::select! {
                _ = stop.wait_for(|stop| *stop) => return End::Stopped,
                nudged = self.idle(wait) => if nudged { idle = IDLE.0 },
            }
        }
    }

    /// Waits before the next reading: no longer than the window of what waits, and not at all once
    /// somebody knows of new records (then `true`).
    async fn idle(&self, at_most: Duration) -> bool {
        let mut until = Instant::now() + at_most;
        if let Some(window_ends) = self.waiting.open_until(&self.shared.mapping) {
            until = until.min(window_ends);
        }
        tokio::select! {
            () = self.shared.nudge.notified() => true,
            () = tokio::time::sleep_until(until) => false,
        }
    }

    /// How many records were read; `None` at the shard's end.
    async fn read_once(&mut self) -> Result<Option<usize>, Unread> {
        let iterator = match self.iterator.take() {
            Some(iterator) => iterator,
            None => match self.iterator_here().await? {
                Some(iterator) => iterator,
                None => return Ok(None),
            },
        };
        let answer = self
            .shared
            .client
            .get_records()
            .shard_iterator(iterator)
            .send()
            .await
            .map_err(unread)?;
        let count = self.keep(&answer);
        self.iterator = answer.next_shard_iterator;
        // A closed shard gives no further iterator with its last records.
        Ok(self.iterator.is_some().then_some(count))
    }

    fn keep(&mut self, answer: &GetRecordsOutput) -> usize {
        let records = answer.records();
        for found in records {
            if record::wanted(found)
                && let Some(ready) = Ready::new(found, &self.shared.stream_arn)
            {
                self.waiting.push(ready);
            }
        }
        let last = records
            .iter()
            .rev()
            .find_map(|found| found.dynamodb().and_then(StreamRecord::sequence_number));
        if let Some(last) = last {
            self.read = Some(last.to_owned());
            if self.waiting.is_empty() {
                self.shared.checkpoints.keep(self.shard, last);
            }
        }
        records.len()
    }

    /// An iterator for the place up to which the shard was read, or for its beginning.
    async fn iterator_here(&self) -> Result<Option<String>, Unread> {
        let request = self
            .shared
            .client
            .get_shard_iterator()
            .stream_arn(&self.shared.stream_arn)
            .shard_id(self.shard);
        let request = match &self.read {
            Some(read) => request
                .shard_iterator_type(ShardIteratorType::AfterSequenceNumber)
                .sequence_number(read),
            None => request.shard_iterator_type(ShardIteratorType::TrimHorizon),
        };
        let answer = request.send().await.map_err(|error| match unread(error) {
            // The only value that may be invalid is the sequence number.
            Unread::Failed(why) if self.read.is_some() && why.contains("ValidationException") => {
                Unread::Trimmed
            }
            other => other,
        })?;
        Ok(answer.shard_iterator)
    }

    /// Begins at the oldest record that there is: duplicates are harmless, gaps only late.
    fn restart(&mut self) {
        tracing::warn!(
            shard = self.shard,
            "stream.checkpoint_lost: reading from the oldest record"
        );
        self.shared.checkpoints.forget(self.shard);
        self.iterator = None;
        self.read = None;
    }

    /// Every batch that is full, or whose window has ended.
    async fn hand_over_ready(&mut self) {
        while !self.waiting.is_empty() && self.waiting.open_until(&self.shared.mapping).is_none() {
            self.hand_over_one().await;
        }
    }

    async fn hand_over_all(&mut self) {
        while !self.waiting.is_empty() {
            self.hand_over_one().await;
        }
    }

    async fn hand_over_one(&mut self) {
        let Shared {
            invoke,
            mapping,
            checkpoints,
            stop,
            ..
        } = self.shared;
        let batch = self.waiting.take(mapping);
        let is_taken = batch::hand_over(invoke, mapping, batch, stop.clone(), |taken| {
            checkpoints.keep(self.shard, taken);
        })
        .await;
        if !is_taken {
            // The pump stops: what is left comes again after a restart.
            self.waiting = Waiting::default();
        } else if self.waiting.is_empty()
            && let Some(read) = &self.read
        {
            // What the filter left out behind the last batch needs no repetition either.
            checkpoints.keep(self.shard, read);
        }
    }
}

/// The pause as it is, doubled for the next time.
fn grown(pause: &mut Duration, most: Duration) -> Duration {
    let now = *pause;
    *pause = (now * 2).min(most);
    now
}

fn unread<E: ProvideErrorMetadata>(error: SdkError<E>) -> Unread {
    let (code, words) = match &error {
        SdkError::ServiceError(service) => (
            service.err().code().unwrap_or_default(),
            service.err().message().unwrap_or_default(),
        ),
        SdkError::TimeoutError(_) => ("timeout", ""),
        SdkError::DispatchFailure(_) => ("not reachable", ""),
        _ => ("answer not understood", ""),
    };
    match code {
        "ExpiredIteratorException" => Unread::Expired,
        "TrimmedDataAccessException" => Unread::Trimmed,
        "ResourceNotFoundException" => Unread::Gone,
        _ => Unread::Failed(format!("{code} {words}").trim_end().to_owned()),
    }
}
