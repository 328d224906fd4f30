use std::collections::HashMap;
use std::sync::Mutex;

use ackbox_store::Store;
use aws_sdk_dynamodb::types::AttributeValue;
use serde_json::json;
use tokio::task::JoinHandle;

use super::*;
use crate::dev::{Clients, Engine};

const MAPPING: Mapping = Mapping {
    batch: 10,
    window: Duration::ZERO,
    retries: 5,
    first_pause: Duration::from_millis(1),
};

/// A table with a stream, and a function that takes what it is given.
struct World {
    engine: Engine,
    clients: Clients,
    stream_arn: String,
}

impl World {
    async fn start() -> Self {
        let engine = Engine::memory().await.unwrap();
        let clients = engine.clients().await;
        let store = Store::new(clients.dynamodb.clone(), "pumped");
        store.create_table().await.unwrap();
        let described = clients
            .dynamodb
            .describe_table()
            .table_name("pumped")
            .send();
        let table = described.await.unwrap().table.unwrap();
        Self {
            engine,
            clients,
            stream_arn: table.latest_stream_arn.unwrap(),
        }
    }

    async fn put(&self, pk: &str, sk: &str) {
        let item = HashMap::from([
            ("pk".to_owned(), AttributeValue::S(pk.to_owned())),
            ("sk".to_owned(), AttributeValue::S(sk.to_owned())),
            ("n".to_owned(), AttributeValue::N("007".to_owned())),
            ("b".to_owned(), AttributeValue::B(vec![255, 0].into())),
        ]);
        let put = self.clients.dynamodb.put_item().table_name("pumped");
        put.set_item(Some(item)).send().await.unwrap();
    }

    /// A pump that hands every record's `pk` to the test, and answers as told.
    fn pump(
        &self,
        checkpoints: Option<PathBuf>,
        answer: impl Fn(&[String]) -> Result<Value, InvocationError> + Send + Sync + 'static,
    ) -> Pumping {
        let seen = watch::Sender::new(Vec::new());
        let seen_by = seen.subscribe();
        let (stop, stopped) = watch::channel(false);
        let origin = Origin {
            client: self.clients.streams.clone(),
            stream_arn: self.stream_arn.clone(),
            checkpoints,
            nudge: Arc::default(),
            stop: stopped,
        };
        let invoke = move |event: Value| {
            let records = event["Records"].as_array().unwrap().clone();
            let keys: Vec<String> = records
                .iter()
                .map(|r| {
                    r["dynamodb"]["Keys"]["pk"]["S"]
                        .as_str()
                        .unwrap()
                        .to_owned()
                })
                .collect();
            seen.send_modify(|all| all.push((keys.clone(), records)));
            let answer = answer(&keys);
            async move { answer }
        };
        Pumping {
            stop,
            seen: seen_by,
            task: tokio::spawn(run(origin, MAPPING, invoke)),
        }
    }
}

type Seen = Vec<(Vec<String>, Vec<Value>)>;

struct Pumping {
    stop: watch::Sender<bool>,
    seen: watch::Receiver<Seen>,
    task: JoinHandle<()>,
}

impl Pumping {
    /// The keys of every record so far, once there are as many.
    async fn keys(&mut self, count: usize) -> Vec<String> {
        fn all(seen: &Seen) -> Vec<String> {
            seen.iter().flat_map(|(keys, _)| keys.clone()).collect()
        }
        let enough = |seen: &Seen| all(seen).len() >= count;
        all(&self.seen.wait_for(enough).await.unwrap())
    }

    async fn stop(self) -> Seen {
        self.stop.send(true).unwrap();
        self.task.await.unwrap();
        self.seen.borrow().clone()
    }
}

fn success(_: &[String]) -> Result<Value, InvocationError> {
    Ok(json!({ "batchItemFailures": [] }))
}

#[tokio::test]
async fn only_insertions_of_outbox_items_are_handed_over_and_in_order() {
    let world = World::start().await;
    for number in ["1", "2", "3"] {
        world.put(number, "ACCEPTED").await;
        world.put(number, "OUTBOX").await;
        // A second put is no insertion.
        world.put(number, "OUTBOX").await;
    }
    let mut pump = world.pump(None, success);
    assert_eq!(pump.keys(3).await, ["1", "2", "3"]);
    world.put("4", "OUTBOX").await;
    assert_eq!(pump.keys(4).await, ["1", "2", "3", "4"]);
    pump.stop().await;
    world.engine.stop().await;
}

#[tokio::test]
async fn a_record_is_what_lambda_would_deliver() {
    let world = World::start().await;
    world.put("1", "OUTBOX").await;
    let mut pump = world.pump(None, success);
    pump.keys(1).await;
    let seen = pump.stop().await;
    let record = &seen[0].1[0];
    assert_eq!(record["eventName"], "INSERT");
    assert_eq!(record["eventSource"], "aws:dynamodb");
    assert_eq!(record["eventSourceARN"], world.stream_arn.as_str());
    assert_eq!(record["dynamodb"]["StreamViewType"], "NEW_IMAGE");
    let image = json!({
        "pk": {"S": "1"}, "sk": {"S": "OUTBOX"}, "n": {"N": "7"}, "b": {"B": "/wA="},
    });
    assert_eq!(record["dynamodb"]["NewImage"], image);
    let read = serde_json::from_value::<aws_lambda_events::dynamodb::EventRecord>(record.clone());
    assert!(read.unwrap().change.sequence_number.is_some());
}

#[tokio::test]
async fn after_a_restart_only_what_was_not_taken_comes_again() {
    let world = World::start().await;
    let folder = tempfile::tempdir().unwrap();
    let file = Some(folder.path().join("stream"));
    world.put("1", "OUTBOX").await;
    let mut pump = world.pump(file.clone(), success);
    pump.keys(1).await;
    pump.stop().await;

    world.put("2", "OUTBOX").await;
    let mut failing = world.pump(file.clone(), |_| Err(InvocationError::Killed));
    assert_eq!(failing.keys(1).await[0], "2");
    // As by a kill: in the middle of its retries.
    failing.task.abort();

    world.put("3", "OUTBOX").await;
    let mut pump = world.pump(file, success);
    assert_eq!(pump.keys(1).await[0], "2");
}

#[tokio::test]
async fn a_checkpoint_that_is_lost_or_makes_no_sense_starts_at_the_oldest_record() {
    let world = World::start().await;
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("stream");
    world.put("1", "OUTBOX").await;
    let mut pump = world.pump(Some(file.clone()), success);
    pump.keys(1).await;
    pump.stop().await;

    let kept = std::fs::read_to_string(&file).unwrap();
    let (_, number) = kept.rsplit_once(':').unwrap();
    let odd = kept.replace(number.trim_matches(['"', '}']), "000000000000000000000");
    assert_ne!(odd, kept);
    std::fs::write(&file, odd).unwrap();
    let mut pump = world.pump(Some(file.clone()), success);
    assert_eq!(pump.keys(1).await, ["1"]);
    pump.stop().await;

    std::fs::remove_file(&file).unwrap();
    assert_eq!(world.pump(Some(file), success).keys(1).await, ["1"]);
}

#[tokio::test]
async fn a_partial_failure_comes_again_from_the_named_record() {
    let world = World::start().await;
    for number in ["1", "2", "3"] {
        world.put(number, "OUTBOX").await;
    }
    let failed = Mutex::new(false);
    let numbers = sequence_numbers(&world.clients.streams, &world.stream_arn).await;
    let mut pump = world.pump(None, move |keys| {
        if keys.len() == 3 && !std::mem::replace(&mut *failed.lock().unwrap(), true) {
            return Ok(json!({ "batchItemFailures": [{ "itemIdentifier": numbers[1] }] }));
        }
        success(keys)
    });
    assert_eq!(pump.keys(5).await, ["1", "2", "3", "2", "3"]);
}

async fn sequence_numbers(client: &Client, stream_arn: &str) -> Vec<String> {
    let shard = shards(client, stream_arn).await.unwrap().remove(0).id;
    let iterator = client
        .get_shard_iterator()
        .stream_arn(stream_arn)
        .shard_id(shard)
        .shard_iterator_type("TRIM_HORIZON".into())
        .send()
        .await
        .unwrap();
    let read = client
        .get_records()
        .set_shard_iterator(iterator.shard_iterator);
    let records = read.send().await.unwrap().records.unwrap();
    records
        .iter()
        .map(|r| r.dynamodb().unwrap().sequence_number().unwrap().to_owned())
        .collect()
}

#[tokio::test]
async fn stopping_waits_for_the_invocation_that_runs_and_begins_no_other() {
    let world = World::start().await;
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("stream");
    world.put("1", "OUTBOX").await;
    let (stop, stopped) = watch::channel(false);
    let origin = Origin {
        client: world.clients.streams.clone(),
        stream_arn: world.stream_arn.clone(),
        checkpoints: Some(file.clone()),
        nudge: Arc::default(),
        stop: stopped,
    };
    let (begun, mut begins) = tokio::sync::mpsc::unbounded_channel();
    let release = Arc::new(Notify::new());
    let invoke = {
        let release = Arc::clone(&release);
        move |_| {
            begun.send(()).unwrap();
            let release = Arc::clone(&release);
            async move {
                release.notified().await;
                success(&[])
            }
        }
    };
    let task = tokio::spawn(run(origin, MAPPING, invoke));
    begins.recv().await.unwrap();
    world.put("2", "OUTBOX").await;
    stop.send(true).unwrap();
    tokio::task::yield_now().await;
    assert!(!task.is_finished());
    release.notify_one();
    task.await.unwrap();
    assert!(begins.recv().await.is_none(), "only one invocation began");
    // What it took is not repeated; what came meanwhile is not lost.
    assert_eq!(world.pump(Some(file), success).keys(1).await, ["2"]);
}
