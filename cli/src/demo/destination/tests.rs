use super::*;
use ackbox_domain::settlement::Word;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

const KEY: &str = "act_aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa";

/// Sends one request over a connection of its own; what came back until the other side closed.
async fn post(destination: &Destination, key_header: &str, body: &str) -> String {
    let mut stream = TcpStream::connect(destination.address).await.unwrap();
    let request = format!(
        "POST /in?a=b HTTP/1.1\r\nhost: x\r\nconnection: close\r\n{key_header}: {KEY}\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    );
    let mut answer = String::new();
    // A peer that closes early may refuse the bytes, or reset; both read as nothing.
    let _ = stream.write_all(request.as_bytes()).await;
    let _ = stream.read_to_string(&mut answer).await;
    answer
}

#[tokio::test]
async fn a_request_is_logged_as_it_was_read_and_answered_as_the_script_says() {
    let destination = Destination::start(|received| match received.seen {
        1 => Behaviour::Answer {
            status: 503,
            headers: vec![("retry-after".into(), "7".into())],
            body: "later".into(),
        },
        _ => Behaviour::status(204),
    })
    .await
    .unwrap();
    let first = post(&destination, "Idempotency-Key", "one").await;
    assert!(first.starts_with("HTTP/1.1 503"), "{first}");
    assert!(first.contains("retry-after: 7") && first.ends_with("later"));
    let second = post(&destination, "X-Their-Key", "two").await;
    assert!(second.starts_with("HTTP/1.1 204"), "{second}");

    let log = destination.exchanges();
    let (received, answered): (Vec<_>, Vec<_>) = log.into_iter().unzip();
    assert_eq!(answered, [Answered::Status(503), Answered::Status(204)]);
    assert_eq!(received[0].body, b"one");
    assert_eq!(received[0].path, "/in?a=b");
    assert!(received[0].headers.contains(&("host".into(), "x".into())));
    assert!(received.iter().all(|r| r.key == KEY));
    assert_eq!((received[0].seen, received[1].seen), (1, 2));
}

#[tokio::test]
async fn a_dropped_request_is_logged_and_gets_no_answer() {
    let destination = Destination::start(|_| Behaviour::DropAfterRequest)
        .await
        .unwrap();
    assert_eq!(post(&destination, "idempotency-key", "x").await, "");
    assert_eq!(destination.exchanges()[0].1, Answered::Dropped);
}

#[tokio::test]
async fn a_stalled_request_is_answered_when_it_is_released() {
    let destination = Arc::new(Destination::start(|_| Behaviour::Stall).await.unwrap());
    // A release is for those that are stalled now, not for later ones.
    destination.release();
    let sender = {
        let destination = Arc::clone(&destination);
        tokio::spawn(async move { post(&destination, "idempotency-key", "x").await })
    };
    destination.until(|log| log.len() == 1).await;
    assert_eq!(destination.exchanges()[0].1, Answered::Stalled);
    assert!(!sender.is_finished());
    destination.release();
    assert!(sender.await.unwrap().starts_with("HTTP/1.1 200"));
    assert_eq!(destination.exchanges()[0].1, Answered::Status(200));
}

#[tokio::test]
async fn a_destination_that_is_gone_takes_no_connection() {
    let destination = Destination::start(|_| Behaviour::status(200))
        .await
        .unwrap();
    let address = destination.address;
    let aborted = destination.accepting.clone();
    drop(destination);
    while !aborted.is_finished() {
        tokio::task::yield_now().await;
    }
    assert!(TcpStream::connect(address).await.is_err());
}

#[tokio::test]
async fn a_question_is_logged_apart_with_the_deliveries_before_it_and_what_was_meant() {
    let replies = |question: &Question| match question.seen {
        1 => Reply::says(Word::NotApplied, 404, "none"),
        _ => Reply::Nothing,
    };
    let destination = Destination::start_answering(|_| Behaviour::status(200), replies)
        .await
        .unwrap();
    let ask = async || {
        let mut stream = TcpStream::connect(destination.address).await.unwrap();
        let request =
            format!("GET /jobs/7?key={KEY} HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n");
        let mut answer = String::new();
        stream.write_all(request.as_bytes()).await.unwrap();
        let _ = stream.read_to_string(&mut answer).await;
        answer
    };
    post(&destination, "idempotency-key", "x").await;
    let first = ask().await;
    assert!(
        first.starts_with("HTTP/1.1 404") && first.ends_with("none"),
        "{first}"
    );
    post(&destination, "idempotency-key", "x").await;
    assert_eq!(ask().await, "");
    destination.until_asked(2).await;

    assert_eq!(destination.received().len(), 2);
    let asked = destination.asked();
    let after: Vec<_> = asked.iter().map(|asked| asked.question.after).collect();
    assert_eq!(after, [1, 2]);
    assert!(asked.iter().all(|asked| asked.question.key == KEY));
    assert_eq!(asked[0].question.path, format!("/jobs/7?key={KEY}"));
    assert_eq!(asked[0].reply.means(), Word::NotApplied);
    assert_eq!(asked[1].reply.means(), Word::StillUnknown);
    assert_eq!(asked[1].reply.answered(), Answered::Dropped);
}
