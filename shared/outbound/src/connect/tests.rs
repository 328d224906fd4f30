use std::time::Duration;

use tokio::net::{TcpListener, TcpSocket};

use super::*;

const HOST: Host<&str> = Host::Domain("mail.example");

fn addresses(texts: &[&str]) -> Vec<SocketAddr> {
    texts.iter().map(|text| text.parse().unwrap()).collect()
}

#[test]
fn addresses_that_are_not_public_are_dropped_and_the_others_stay_in_order() {
    let found = addresses(&[
        "10.0.0.1:443",
        "[2a00:1450::1]:443",
        "127.0.0.1:443",
        "8.8.8.8:443",
    ]);
    let public = addresses(&["[2a00:1450::1]:443", "8.8.8.8:443"]);
    assert_eq!(admitted(&HOST, found.clone(), false).unwrap(), public);
    assert_eq!(admitted(&HOST, found.clone(), true).unwrap(), found);
}

#[test]
fn where_no_address_is_left_the_reason_names_one() {
    let NotSent(why) = admitted(&HOST, addresses(&["10.0.0.1:443"]), false).unwrap_err();
    assert_eq!(
        why,
        "mail.example is at 10.0.0.1, which is not a public address; allow_private = true would allow it"
    );
    let NotSent(why) = admitted(&HOST, vec![], true).unwrap_err();
    assert_eq!(why, "mail.example resolves to no address");
}

#[tokio::test]
async fn the_next_address_is_tried_where_one_refuses() {
    // Bound and not listening: refuses, and nobody else takes the port.
    let closed = TcpSocket::new_v4().unwrap();
    closed.bind("127.0.0.1:0".parse().unwrap()).unwrap();
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let open = listener.local_addr().unwrap();
    let deadline = Deadline::in_time(Duration::from_secs(10));
    let both = [closed.local_addr().unwrap(), open];
    let stream = tcp(&both, &deadline).await.unwrap();
    assert_eq!(stream.peer_addr().unwrap(), open);

    let NotSent(why) = tcp(&both[..1], &deadline).await.unwrap_err();
    assert!(
        why.starts_with(&format!("could not connect to {}: ", both[0])),
        "{why}"
    );
}
