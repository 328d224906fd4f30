//! A server that does to one connection exactly what its script says.

use std::net::SocketAddr;
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;

/// A server for one connection, and what its script will have seen.
pub(super) struct Server<T> {
    pub(super) address: SocketAddr,
    script: JoinHandle<T>,
}

impl<T> Server<T> {
    pub(super) fn url(&self) -> String {
        format!("http://{}/actions?a=1", self.address)
    }

    /// What the script ended with.
    pub(super) async fn seen(self) -> T {
        self.script.await.unwrap()
    }
}

/// Hands the first connection to the script.
pub(super) async fn scripted<T, F>(
    script: impl FnOnce(TcpStream) -> F + Send + 'static,
) -> Server<T>
where
    T: Send + 'static,
    F: Future<Output = T> + Send,
{
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let script = tokio::spawn(async move {
        let (stream, _) = listener.accept().await.unwrap();
        script(stream).await
    });
    Server { address, script }
}

/// Reads one request, answers with these bytes, and reads what else comes until the other side is
/// done.
pub(super) async fn answering(answer: &[u8]) -> Server<Request> {
    let answer = answer.to_vec();
    scripted(|mut stream| async move {
        let request = read_request(&mut stream).await;
        // The other side may have read enough and gone.
        let _ = stream.write_all(&answer).await;
        let _ = stream.shutdown().await;
        let mut rest = Vec::new();
        let _ = stream.read_to_end(&mut rest).await;
        assert_eq!(rest, b"", "one request per connection");
        request
    })
    .await
}

/// The same for several connections, one after another, each with an answer of its own.
pub(super) async fn answering_each(answers: Vec<Vec<u8>>) -> Server<Vec<Request>> {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let script = tokio::spawn(async move {
        let mut requests = Vec::new();
        for answer in answers {
            let (mut stream, _) = listener.accept().await.unwrap();
            requests.push(read_request(&mut stream).await);
            let _ = stream.write_all(&answer).await;
        }
        requests
    });
    Server { address, script }
}

/// A request as it arrived.
#[derive(Debug)]
pub(super) struct Request {
    pub(super) line: String,
    pub(super) headers: Vec<(String, String)>,
    pub(super) body: Vec<u8>,
}

impl Request {
    /// The values of a header, in order.
    pub(super) fn header(&self, name: &str) -> Vec<&str> {
        let lines = self.headers.iter().filter(|(known, _)| known == name);
        lines.map(|(_, value)| value.as_str()).collect()
    }
}

/// Reads exactly one request.
pub(super) async fn read_request(stream: &mut (impl AsyncRead + Unpin)) -> Request {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        head.push(stream.read_u8().await.unwrap());
    }
    let head = String::from_utf8(head).unwrap();
    let mut lines = head.trim_end().lines();
    let line = lines.next().unwrap().to_owned();
    let headers: Vec<(String, String)> = lines
        .map(|line| line.split_once(": ").unwrap())
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .collect();
    let length = headers.iter().find(|(name, _)| name == "content-length");
    let mut body = vec![0; length.map_or(0, |(_, length)| length.parse().unwrap())];
    stream.read_exact(&mut body).await.unwrap();
    Request {
        line,
        headers,
        body,
    }
}

/// Stops the clock and moves it past this time: for everyone, at once.
pub(super) async fn let_pass(time: Duration) {
    tokio::time::pause();
    tokio::time::advance(time + Duration::from_millis(1)).await;
}
