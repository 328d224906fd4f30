//! The stream pump: does on this machine what Lambda's event source mapping does for a DynamoDB stream.
//! New outbox items come in from the table's stream, invocations go out.
//!
//! | as the mapping | here |
//! | --- | --- |
//! | shards: parents before their children, found again and again | [`lineage`] |
//! | from the oldest record at first, from the checkpoint after that | [`checkpoint`] |
//! | filter: INSERT of outbox items | [`record`] |
//! | batch size, window, 6 MB; one invocation per shard at a time; retries with growing pauses | [`batch`] |
//! | partial failures by `batchItemFailures` | [`answer`] |
//!
//! Other than there: the retries are few (a batch that always fails is left to the sweep after them),
//! and batches are not parallelised within a shard or bisected.
//!
//! What must never happen: a checkpoint ahead of a record that the function has not taken. The rest is
//! harmless: the table is the truth and the stream a hint.

mod answer;
mod batch;
mod checkpoint;
mod lineage;
mod record;
mod shard;

use std::collections::{BTreeSet, HashMap};
use std::future::Future;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use aws_sdk_dynamodbstreams::Client;
use serde_json::Value;
use tokio::sync::{Notify, watch};
use tokio::task::JoinSet;

use checkpoint::Checkpoints;
use lineage::Listed;
use shard::{End, Reader};

use super::invoke::InvocationError;

/// How often the shards are looked up while nothing says that they changed.
const DISCOVERY: Duration = Duration::from_secs(10);

/// How soon they are looked up again after one could not be read.
const DISCOVERY_AGAIN: Duration = Duration::from_millis(500);

/// How records become invocations.
#[derive(Clone, Copy, Debug)]
pub(super) struct Mapping {
    /// The most records of one invocation.
    pub batch: usize,
    /// How long a batch waits for more.
    pub window: Duration,
    /// How often a batch is repeated after a failure.
    pub retries: u32,
    /// The pause before the first repetition; doubled for each further one.
    pub first_pause: Duration,
}

/// What every shard's reader needs.
struct Shared<I> {
    client: Client,
    stream_arn: String,
    mapping: Mapping,
    checkpoints: Checkpoints,
    nudge: Arc<Notify>,
    stop: watch::Receiver<bool>,
    invoke: I,
}

/// Where records come from, and where what is known of them is kept.
#[derive(Debug)]
pub(super) struct Origin {
    pub client: Client,
    pub stream_arn: String,
    /// Where checkpoints are kept over a restart.
    pub checkpoints: Option<PathBuf>,
    /// Told when there is something new to read; reading goes on without it, only later.
    pub nudge: Arc<Notify>,
    /// Says when to stop.
    pub stop: watch::Receiver<bool>,
}

/// Pumps until it is told to stop, and then until the invocations in flight have ended. A batch whose
/// invocation has not ended when this is dropped comes again after a restart.
pub(super) async fn run<I, F>(origin: Origin, mapping: Mapping, invoke: I)
where
    I: Fn(Value) -> F + Send + Sync + 'static,
    F: Future<Output = Result<Value, InvocationError>> + Send,
{
    let checkpoints = Checkpoints::open(origin.checkpoints, &origin.stream_arn);
    let mut stop = origin.stop.clone();
    let shared = Arc::new(Shared {
        client: origin.client,
        stream_arn: origin.stream_arn,
        mapping,
        checkpoints,
        nudge: origin.nudge,
        stop: origin.stop,
        invoke,
    });
    let mut readers = Readers::default();
    loop {
        let turn = readers.turn(&shared);
        tokio::select! {
            biased;
            _ = stop.wait_for(|stop| *stop) => break,
            () = turn => {}
        }
    }
    while readers.tasks.join_next().await.is_some() {}
}

/// The shards that are being read, and those that are done with.
#[derive(Default)]
struct Readers {
    tasks: JoinSet<End>,
    reading: HashMap<tokio::task::Id, String>,
    finished: BTreeSet<String>,
}

impl Readers {
    /// Starts what may be started, and waits until it is worth another look.
    async fn turn<I, F>(&mut self, shared: &Arc<Shared<I>>)
    where
        I: Fn(Value) -> F + Send + Sync + 'static,
        F: Future<Output = Result<Value, InvocationError>> + Send,
    {
        match shards(&shared.client, &shared.stream_arn).await {
            Err(why) => tracing::warn!(error = %why, "stream.shards_unknown"),
            Ok(listed) => {
                let reading = self.reading.values().cloned().collect();
                for id in lineage::startable(&listed, &reading, &self.finished) {
                    let (shared, shard) = (Arc::clone(shared), id.clone());
                    let task = async move { Reader::new(&shared, &shard).run().await };
                    self.reading.insert(self.tasks.spawn(task).id(), id);
                }
            }
        }
        let ended = tokio::time::timeout(DISCOVERY, self.tasks.join_next_with_id()).await;
        let (task, end) = match ended {
            Err(_) => return,
            Ok(None) => return tokio::time::sleep(DISCOVERY_AGAIN).await,
            Ok(Some(Ok((task, end)))) => (task, Some(end)),
            // A defect of ours: the shard is read again from its checkpoint.
            Ok(Some(Err(defect))) => (defect.id(), None),
        };
        let shard = self.reading.remove(&task);
        match (end, shard) {
            (Some(End::Finished), Some(shard)) => {
                self.finished.insert(shard);
            }
            // Gone, it seems. If it is listed again, it is read again.
            _ => tokio::time::sleep(DISCOVERY_AGAIN).await,
        }
    }
}

/// Every shard that the stream lists now.
async fn shards(client: &Client, stream_arn: &str) -> Result<Vec<Listed>, String> {
    let mut listed = Vec::new();
    let mut after = None;
    loop {
        let answer = client
            .describe_stream()
            .stream_arn(stream_arn)
            .set_exclusive_start_shard_id(after)
            .send()
            .await
            .map_err(|error| aws_sdk_dynamodbstreams::Error::from(error).to_string())?;
        let Some(description) = answer.stream_description else {
            return Ok(listed);
        };
        listed.extend(description.shards().iter().filter_map(|shard| {
            Some(Listed {
                id: shard.shard_id()?.to_owned(),
                parent: shard.parent_shard_id().map(ToOwned::to_owned),
            })
        }));
        after = description.last_evaluated_shard_id;
        if after.is_none() {
            return Ok(listed);
        }
    }
}

#[cfg(test)]
mod tests;
