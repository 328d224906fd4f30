use ackbox_receiver::Receiver;
use ackbox_registrar::Registrar;
use ackbox_secrets::Secrets;
use ackbox_store::Store;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

use super::*;
use crate::dev::Clients;
use crate::edge::Clock;

const CONFIG: &str = r#"
    [source.small]
    scheme   = "github"
    secrets  = ["env:SECRET"]
    max_body = "1 KiB"
    [[source.small.rule]]
    name        = "all"
    key         = ["/id"]
    destination = "mailer"

    [source.large]
    scheme   = "github"
    secrets  = ["env:SECRET"]
    max_body = "2 KiB"
    [[source.large.rule]]
    name        = "all"
    key         = ["/id"]
    destination = "mailer"

    [destination.mailer]
    url         = "https://mail.example/"
    idempotency = "none"
"#;

struct Server {
    at: std::net::SocketAddr,
    stop: watch::Sender<bool>,
    task: tokio::task::JoinHandle<()>,
}

impl Server {
    /// A receiver whose table cannot be reached: what is answered here needs none.
    async fn start(within: Duration) -> Self {
        Self::start_at(within, crate::edge::clock()).await
    }

    async fn start_at(within: Duration, clock: Clock) -> Self {
        let config = Config::parse("test.toml", CONFIG).unwrap();
        let limits = Limits::of(&config, Some(within));
        assert_eq!(limits.body, 2048);
        let clients = Clients::local("http://127.0.0.1:9").await;
        let store = Store::new(clients.dynamodb, "t");
        let secrets = Secrets::new(|_| Some("a secret of some length".to_owned()));
        let functions = Functions {
            receiver: Receiver::new(config.clone(), store.clone(), secrets, Arc::clone(&clock)),
            registrar: Registrar::new(config, store, clock),
            token: Some("a token".to_owned()),
        };
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let at = listener.local_addr().unwrap();
        let (stop, stopped) = watch::channel(false);
        let task = tokio::spawn(serve(listener, functions, limits, Arc::default(), stopped));
        Self { at, stop, task }
    }

    async fn connect(&self) -> TcpStream {
        TcpStream::connect(self.at).await.unwrap()
    }

    /// Sends these bytes, and reads until the server closes.
    async fn send(&self, bytes: &[u8]) -> String {
        let mut stream = self.connect().await;
        stream.write_all(bytes).await.unwrap();
        read_all(&mut stream).await
    }
}

async fn read_all(stream: &mut TcpStream) -> String {
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).await.unwrap();
    String::from_utf8(answer).unwrap()
}

fn post(source: &str, length: usize) -> Vec<u8> {
    let mut request = format!(
        "POST /hooks/{source} HTTP/1.1\r\nhost: x\r\nconnection: close\r\ncontent-length: {length}\r\n\r\n"
    )
    .into_bytes();
    request.resize(request.len() + length, b' ');
    request
}

fn assert_answer(answer: &str, status: &str, outcome: &str) {
    assert!(
        answer.starts_with(&format!("HTTP/1.1 {status}")),
        "{answer}"
    );
    assert!(
        answer.contains(&format!("ackbox-outcome: {outcome}\r\n")),
        "{answer}"
    );
}

const LONG: Duration = Duration::from_secs(600);

#[tokio::test]
async fn every_path_and_method_is_answered_by_the_receiver() {
    let server = Server::start(LONG).await;
    let get = b"GET /hooks/small HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n";
    let answer = server.send(get).await;
    assert_answer(&answer, "405", "method");
    assert!(answer.contains("allow: POST"), "{answer}");
    assert_answer(
        &server.send(&post("other", 3)).await,
        "404",
        "unknown-source",
    );
    assert_answer(&server.send(&post("small/", 3)).await, "401", "refused");
}

#[tokio::test]
async fn a_defect_of_our_own_is_a_bare_500_that_says_nothing_of_it() {
    let server = Server::start_at(LONG, Arc::new(|| panic!("the clock stands still"))).await;
    // Two on one connection: the receiver itself answers, and not what is left of the connection.
    let first = b"POST /hooks/small HTTP/1.1\r\nhost: x\r\ncontent-length: 0\r\n\r\n";
    let both = server.send(&[first, &post("small", 3)[..]].concat()).await;
    let answers: Vec<&str> = both.split_inclusive("\r\n\r\n").collect();
    assert_eq!(answers.len(), 2, "{both}");
    for answer in answers {
        assert_answer(answer, "500", "error");
        let known = ["ackbox-outcome", "connection", "content-length", "date"];
        let headers = answer
            .lines()
            .skip(1)
            .filter_map(|line| line.split_once(':'));
        for (name, value) in headers {
            assert!(known.contains(&name), "{answer}");
            assert!(name != "content-length" || value == " 0", "{answer}");
        }
    }
}

#[tokio::test]
async fn a_body_over_the_limit_is_answered_as_the_receiver_would() {
    let server = Server::start(LONG).await;
    assert_answer(&server.send(&post("small", 1024)).await, "401", "refused");
    assert_answer(&server.send(&post("small", 1025)).await, "413", "too-large");
    assert_answer(&server.send(&post("large", 2048)).await, "401", "refused");
    // Announced, and much larger than what is kept.
    assert_answer(
        &server.send(&post("large", 9_000_000)).await,
        "413",
        "too-large",
    );
    // The path goes before the size, here as there.
    assert_answer(
        &server.send(&post("other", 9000)).await,
        "404",
        "unknown-source",
    );
}

#[tokio::test]
async fn a_body_that_does_not_announce_its_size_is_bounded_too() {
    let server = Server::start(LONG).await;
    let mut request =
        b"POST /hooks/large HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\n".to_vec();
    for _ in 0..300 {
        request.extend_from_slice(b"3e8\r\n");
        request.resize(request.len() + 1000, b' ');
        request.extend_from_slice(b"\r\n");
    }
    request.extend_from_slice(b"0\r\n\r\n");
    assert_answer(&server.send(&request).await, "413", "too-large");
}

#[tokio::test]
async fn a_client_that_asks_first_is_told_before_it_sends() {
    let server = Server::start(LONG).await;
    let ask = b"POST /hooks/small HTTP/1.1\r\nhost: x\r\nexpect: 100-continue\r\ncontent-length: 5000\r\n\r\n";
    assert_answer(&server.send(ask).await, "413", "too-large");
}

#[tokio::test]
async fn a_request_that_is_not_whole_in_time_is_answered_408() {
    let server = Server::start(Duration::from_millis(100)).await;
    let part_of_body = b"POST /hooks/small HTTP/1.1\r\nhost: x\r\ncontent-length: 10\r\n\r\n{";
    assert_answer(&server.send(part_of_body).await, "408", "too-slow");
    let part_of_head = b"POST /hooks/small HTTP/1.1\r\nhost";
    assert_answer(&server.send(part_of_head).await, "408", "too-slow");
    // Who says nothing at all is not answered either.
    assert_eq!(server.send(b"").await, "");
}

#[tokio::test]
async fn sending_a_little_now_and_then_buys_no_time() {
    let server = Server::start(Duration::from_millis(200)).await;
    let (mut read, mut write) = server.connect().await.into_split();
    let head = b"POST /hooks/small HTTP/1.1\r\nhost: x\r\ncontent-length: 1000\r\n\r\n";
    write.write_all(head).await.unwrap();
    let dribble = async {
        // Until the server closes, a byte every now and then.
        while write.write_all(b" ").await.is_ok() {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    };
    let answer = async {
        let mut answer = vec![0; 12];
        read.read_exact(&mut answer).await.unwrap();
        answer
    };
    tokio::select! {
        () = dribble => panic!("closed without an answer"),
        answer = answer => assert_eq!(answer, b"HTTP/1.1 408"),
    }
}

#[tokio::test]
async fn a_connection_is_used_again_and_its_time_starts_anew() {
    // All pauses are longer than the limit, and each is much shorter.
    let server = Server::start(Duration::from_secs(2)).await;
    let mut stream = server.connect().await;
    let head = b"POST /hooks/small HTTP/1.1\r\nhost: x\r\ncontent-length: 2\r\n\r\n";
    for _ in 0..6 {
        stream.write_all(head).await.unwrap();
        // The body comes late, so that the server waits for it and looks at the time.
        tokio::time::sleep(Duration::from_millis(400)).await;
        stream.write_all(b"{}").await.unwrap();
        let mut answer = [0; 12];
        stream.read_exact(&mut answer).await.unwrap();
        assert_eq!(&answer, b"HTTP/1.1 401");
        // The rest of the answer, up to the end of its head.
        let mut rest = Vec::new();
        while !rest.ends_with(b"\r\n\r\n") {
            rest.push(stream.read_u8().await.unwrap());
        }
    }
}

#[tokio::test]
async fn what_is_no_http_is_refused_and_harms_nobody() {
    let server = Server::start(LONG).await;
    let answer = server.send(b"\x16\x03\x01\x02\0 hello\r\n\r\n").await;
    assert!(answer.starts_with("HTTP/1.1 400"), "{answer}");
    assert_answer(
        &server.send(&post("other", 0)).await,
        "404",
        "unknown-source",
    );
}

#[tokio::test]
async fn stopping_answers_what_is_being_received_and_takes_no_more() {
    let server = Server::start(LONG).await;
    let mut idle = server.connect().await;
    let mut stream = server.connect().await;
    let whole = post("small", 10);
    stream.write_all(&whole[..whole.len() - 5]).await.unwrap();
    // It is being received once a later connection has been answered.
    server.send(&post("other", 0)).await;
    server.stop.send(true).unwrap();
    stream.write_all(&whole[whole.len() - 5..]).await.unwrap();
    assert_answer(&read_all(&mut stream).await, "401", "refused");
    assert_eq!(read_all(&mut idle).await, "");
    server.task.await.unwrap();
    assert!(TcpStream::connect(server.at).await.is_err());
}

fn to_registrar(authorization: &str, path: &str, length: usize) -> Vec<u8> {
    let mut request = format!(
        "POST {path} HTTP/1.1\r\nhost: x\r\nconnection: close\r\n{authorization}content-length: {length}\r\n\r\n"
    )
    .into_bytes();
    request.resize(request.len() + length, b' ');
    request
}

#[tokio::test]
async fn the_registrar_answers_only_who_shows_the_token() {
    let server = Server::start(LONG).await;
    for wrong in [
        "",
        "authorization: a token\r\n",
        "authorization: Basic a token\r\n",
        "authorization: Bearer\r\n",
        "authorization: Bearer \r\n",
        "authorization: Bearer a toke\r\n",
        "authorization: Bearer a tokens\r\n",
        "authorization: Bearer A TOKEN\r\n",
        "authorization: Bearer x\r\nauthorization: Bearer a token\r\n",
        "x-authorization: Bearer a token\r\n",
    ] {
        for path in ["/jobs", "/jobs/", "/jobs/a/b", "/observations"] {
            let answer = server.send(&to_registrar(wrong, path, 3)).await;
            assert_answer(&answer, "401", "refused");
            assert!(answer.contains("www-authenticate: Bearer"), "{answer}");
        }
    }
    for right in [
        "authorization: Bearer a token\r\n",
        "Authorization: bearer a token\r\n",
    ] {
        let answer = server.send(&to_registrar(right, "/jobs", 3)).await;
        assert_answer(&answer, "400", "malformed");
        let answer = server.send(&to_registrar(right, "/jobs/a/b", 0)).await;
        assert_answer(&answer, "405", "method");
    }
    // What only begins like a path of the registrar's is the receiver's.
    let answer = server.send(&to_registrar("", "/jobsx", 3)).await;
    assert_answer(&answer, "404", "unknown-source");
}

#[tokio::test]
async fn a_record_may_be_larger_than_any_message() {
    let server = Server::start(LONG).await;
    let right = "authorization: Bearer a token\r\n";
    for (length, status, outcome) in [
        (512 * 1024, "400", "malformed"),
        (512 * 1024 + 1, "413", "too-large"),
    ] {
        let answer = server.send(&to_registrar(right, "/jobs", length)).await;
        assert_answer(&answer, status, outcome);
    }
}
