use std::sync::Mutex;

use super::*;

fn ready(number: u32) -> Ready {
    Ready {
        sequence_number: number.to_string(),
        json: json!({ "dynamodb": { "SequenceNumber": number.to_string() } }),
        bytes: 100,
    }
}

fn mapping() -> Mapping {
    Mapping {
        batch: 3,
        window: Duration::ZERO,
        retries: 4,
        first_pause: Duration::from_millis(1),
    }
}

/// The sequence numbers in an event.
fn numbers(event: &Value) -> Vec<String> {
    let records = event["Records"].as_array().unwrap();
    records
        .iter()
        .map(|r| r["dynamodb"]["SequenceNumber"].as_str().unwrap().to_owned())
        .collect()
}

/// Hands over 1, 2, 3 to a function that answers so; gives what it saw, and what was taken.
async fn run(answers: Vec<Result<Value, InvocationError>>) -> (Vec<Vec<String>>, Vec<String>) {
    let seen = Mutex::new(Vec::new());
    let answers = Mutex::new(answers.into_iter());
    let invoke = |event: Value| {
        seen.lock().unwrap().push(numbers(&event));
        let answer = answers.lock().unwrap().next();
        async move { answer.unwrap_or(Ok(json!({ "batchItemFailures": [] }))) }
    };
    let mut taken = Vec::new();
    let batch = vec![ready(1), ready(2), ready(3)];
    let (_go_on, stop) = watch::channel(false);
    let mapping = mapping();
    let done = hand_over(&invoke, &mapping, batch, stop, |number| {
        taken.push(number.to_owned());
    });
    assert!(done.await);
    (seen.into_inner().unwrap(), taken)
}

#[tokio::test(start_paused = true)]
async fn a_partial_failure_is_repeated_from_the_named_record() {
    let failure = json!({"batchItemFailures": [{"itemIdentifier": "2"}]});
    let (seen, taken) = run(vec![Ok(failure)]).await;
    assert_eq!(seen, [vec!["1", "2", "3"], vec!["2", "3"]]);
    assert_eq!(taken, ["1", "3"]);
}

#[tokio::test(start_paused = true)]
async fn a_killed_invocation_is_repeated_whole() {
    let timed_out = InvocationError::TimedOut {
        timeout: Duration::from_secs(1),
    };
    let (seen, taken) = run(vec![Err(InvocationError::Killed), Err(timed_out)]).await;
    assert_eq!(seen, vec![vec!["1", "2", "3"]; 3]);
    assert_eq!(taken, ["3"]);
}

#[tokio::test(start_paused = true)]
async fn a_batch_that_never_succeeds_is_dropped_and_does_not_hold_the_shard() {
    let (seen, taken) = run(vec![Err(InvocationError::Panicked); 100]).await;
    assert_eq!(seen.len(), 5, "the first and four retries");
    assert_eq!(taken, ["3"]);
}

#[tokio::test(start_paused = true)]
async fn progress_gives_the_rest_its_retries_anew() {
    let stuck = |number: &str| Ok(json!({"batchItemFailures": [{"itemIdentifier": number}]}));
    let answers = vec![
        stuck("1"),
        stuck("1"),
        stuck("1"),
        stuck("2"),
        stuck("2"),
        stuck("2"),
        stuck("3"),
    ];
    let (seen, taken) = run(answers).await;
    assert_eq!(seen.last().unwrap(), &["3"]);
    assert_eq!(taken, ["1", "2", "3"]);
}

#[test]
fn a_batch_has_no_more_records_and_bytes_than_the_mapping_allows() {
    let mut waiting = Waiting::default();
    (1..=4).for_each(|number| waiting.push(ready(number)));
    assert_eq!(waiting.take(&mapping()).len(), 3);
    assert_eq!(waiting.take(&mapping()).len(), 1);
    assert!(waiting.is_empty());

    let large = |number| Ready {
        bytes: EVENT_MAX - 10,
        ..ready(number)
    };
    waiting.push(large(5));
    waiting.push(large(6));
    assert_eq!(waiting.take(&mapping()).len(), 1);
    assert_eq!(waiting.take(&mapping()).len(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_batch_waits_for_more_until_its_window_ends_or_it_is_full() {
    let mapping = Mapping {
        window: Duration::from_secs(2),
        ..mapping()
    };
    let mut waiting = Waiting::default();
    assert_eq!(waiting.open_until(&mapping), None);
    waiting.push(ready(1));
    assert!(waiting.open_until(&mapping).is_some());
    tokio::time::advance(Duration::from_secs(2)).await;
    assert_eq!(waiting.open_until(&mapping), None);
    waiting.take(&mapping);
    (2..=4).for_each(|number| waiting.push(ready(number)));
    assert_eq!(waiting.open_until(&mapping), None, "full");
}
