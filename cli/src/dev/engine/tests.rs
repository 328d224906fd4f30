use std::os::unix::fs::PermissionsExt as _;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

use super::*;
use crate::dev::Announcement;

async fn tables(engine: &Engine) -> Vec<String> {
    let clients = engine.clients().await;
    let listed = clients.dynamodb.list_tables().send().await.unwrap();
    listed.table_names.unwrap_or_default()
}

async fn create(engine: &Engine, table: &str) {
    let clients = engine.clients().await;
    let store = ackbox_store::Store::new(clients.dynamodb, table);
    store.create_table().await.unwrap();
}

#[tokio::test]
async fn engines_in_memory_are_apart() {
    let (one, other) = (
        Engine::memory().await.unwrap(),
        Engine::memory().await.unwrap(),
    );
    create(&one, "mine").await;
    assert_eq!(tables(&one).await, ["mine"]);
    assert!(tables(&other).await.is_empty());
    one.stop().await;
    other.stop().await;
}

#[tokio::test]
async fn a_file_is_made_with_its_folder_and_is_what_it_was_when_it_is_opened_again() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("new/dev.db");
    let engine = Engine::file(&path).await.unwrap();
    create(&engine, "kept").await;
    engine.stop().await;
    let again = Engine::file(&path).await.unwrap();
    assert_eq!(tables(&again).await, ["kept"]);
}

#[tokio::test]
async fn a_file_is_open_once_and_whoever_comes_second_is_told_where() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("dev.db");
    let engine = Engine::file(&path).await.unwrap();
    let announcement = Announcement {
        endpoint: engine.endpoint().to_owned(),
        key: engine.key().cloned(),
        table: "t".to_owned(),
    };
    let published = announcement.publish(&path).unwrap();
    assert_eq!(Announcement::of_running(&path), Some(announcement));

    let refused = Engine::file(&path).await.unwrap_err();
    assert!(matches!(refused, EngineError::InUse { .. }), "{refused:?}");
    let told = refused.to_string();
    assert!(told.contains(engine.endpoint()), "{told}");
    assert!(told.contains("--db"), "{told}");

    // As after a kill: the announcement stays behind, the lock does not.
    std::mem::forget(published);
    engine.stop().await;
    assert_eq!(Announcement::of_running(&path), None);
    Engine::file(&path).await.unwrap();
}

#[tokio::test]
async fn looking_for_a_running_engine_leaves_nothing_behind() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("absent.db");
    assert_eq!(Announcement::of_running(&path), None);
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
}

#[tokio::test]
async fn a_file_of_another_kind_is_refused_and_left_as_it_is() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("notes.txt");
    let text = "not a database, and long enough to be looked at ".repeat(50);
    std::fs::write(&path, &text).unwrap();
    let refused = Engine::file(&path).await.unwrap_err();
    assert!(
        matches!(refused, EngineError::Unusable { .. }),
        "{refused:?}"
    );
    assert_eq!(std::fs::read_to_string(&path).unwrap(), text);
}

#[tokio::test]
async fn writing_does_not_read_the_whole_stream_each_time() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("dev.db");
    Engine::file(&path).await.unwrap().stop().await;
    let side = Storage::new(path.to_str().unwrap()).unwrap();
    // The engine's own statement for the next sequence number.
    let plan: String = side
        .conn()
        .query_row(
            "EXPLAIN QUERY PLAN SELECT COALESCE(MAX(CAST(sequence_number AS INTEGER)), 0) + 1 \
             FROM _stream_records WHERE table_name = 't'",
            [],
            |row| row.get(3),
        )
        .unwrap();
    assert!(plan.contains("ackbox_stream_order"), "{plan}");
}

/// Asks for a new table in an HTTP request of this method with these headers, and gives the whole answer.
async fn ask(engine: &Engine, method: &str, headers: &[(&str, &str)]) -> String {
    const BODY: &str = r#"{"TableName":"planted","BillingMode":"PAY_PER_REQUEST",
        "AttributeDefinitions":[{"AttributeName":"pk","AttributeType":"S"}],
        "KeySchema":[{"AttributeName":"pk","KeyType":"HASH"}]}"#;
    let address = engine.endpoint().strip_prefix("http://").unwrap();
    let mut request = format!(
        "{method} / HTTP/1.1\r\nconnection: close\r\ncontent-length: {}\r\n\
         content-type: application/x-amz-json-1.0\r\nx-amz-target: DynamoDB_20120810.CreateTable\r\n",
        BODY.len()
    );
    for (name, value) in headers {
        request += &format!("{name}: {value}\r\n");
    }
    let mut stream = tokio::net::TcpStream::connect(address).await.unwrap();
    let request = format!("{request}\r\n{BODY}");
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).await.unwrap();
    String::from_utf8(answer).unwrap().to_lowercase()
}

fn shown(key: &str) -> String {
    format!(
        "AWS4-HMAC-SHA256 Credential={key}/20260101/us-east-1/dynamodb/aws4_request, \
         SignedHeaders=host, Signature=00"
    )
}

#[tokio::test]
async fn who_does_not_show_the_key_or_could_be_a_page_in_a_browser_is_refused_and_changes_nothing()
{
    let engine = Engine::memory().await.unwrap();
    let other = Engine::memory().await.unwrap();
    let key = engine.key().unwrap().expose();
    let (good, longer) = (shown(key), shown(&format!("{key}a")));
    let (local, foreign) = (shown("local"), shown(other.key().unwrap().expose()));
    let own = engine.endpoint().strip_prefix("http://").unwrap();
    let port = own.strip_prefix("127.0.0.1:").unwrap();
    let strange = format!("evil.example:{port}");
    let other_port = other.endpoint().strip_prefix("http://").unwrap();
    let refused: &[(&str, &[(&str, &str)])] = &[
        ("POST", &[("host", own)]),
        ("POST", &[("host", own), ("authorization", &local)]),
        ("POST", &[("host", own), ("authorization", &foreign)]),
        ("POST", &[("host", own), ("authorization", &longer)]),
        ("POST", &[("host", own), ("authorization", &shown(""))]),
        ("POST", &[("host", own), ("authorization", key)]),
        (
            "POST",
            &[
                ("host", own),
                ("authorization", &local),
                ("authorization", &good),
            ],
        ),
        (
            "POST",
            &[("host", own), ("authorization", &good), ("origin", "null")],
        ),
        (
            "POST",
            &[
                ("host", own),
                ("authorization", &good),
                ("origin", engine.endpoint()),
            ],
        ),
        ("POST", &[("host", &strange), ("authorization", &good)]),
        ("POST", &[("host", "127.0.0.1"), ("authorization", &good)]),
        ("POST", &[("host", other_port), ("authorization", &good)]),
        (
            "POST",
            &[("host", own), ("host", &strange), ("authorization", &good)],
        ),
        ("POST", &[("authorization", &good)]),
        ("OPTIONS", &[("host", own), ("authorization", &good)]),
        (
            "OPTIONS",
            &[
                ("host", own),
                ("origin", "https://evil.example"),
                ("access-control-request-method", "POST"),
            ],
        ),
        ("GET", &[("host", own)]),
    ];
    for (method, headers) in refused {
        let answer = ask(&engine, method, headers).await;
        assert!(
            answer.starts_with("http/1.1 403 "),
            "{method} {headers:?}: {answer}"
        );
        assert!(!answer.contains("access-control"), "{answer}");
        assert!(!answer.contains(key), "{answer}");
    }
    assert!(tables(&engine).await.is_empty());

    let localhost = format!("LocalHost:{port}");
    for (host, status) in [(own, "200"), (&localhost, "400")] {
        let answer = ask(&engine, "POST", &[("host", host), ("authorization", &good)]).await;
        // The second time the table is there.
        assert!(
            answer.starts_with(&format!("http/1.1 {status} ")),
            "{answer}"
        );
    }
    assert_eq!(tables(&engine).await, ["planted"]);
}

#[tokio::test]
async fn a_table_file_and_what_is_beside_it_are_for_their_owner_only() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("dev.db");
    // Left behind by somebody else.
    std::fs::write(folder.path().join("dev.db.endpoint.new"), "").unwrap();
    let engine = Engine::file(&path).await.unwrap();
    create(&engine, "kept").await;
    let announcement = Announcement {
        endpoint: engine.endpoint().to_owned(),
        key: engine.key().cloned(),
        table: "t".to_owned(),
    };
    let _published = announcement.publish(&path).unwrap();
    let mut names = Vec::new();
    for entry in std::fs::read_dir(folder.path()).unwrap() {
        let entry = entry.unwrap();
        let mode = entry.metadata().unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600, "{entry:?}");
        names.push(entry.file_name().into_string().unwrap());
    }
    names.sort();
    let expected = [
        "dev.db",
        "dev.db-shm",
        "dev.db-wal",
        "dev.db.endpoint",
        "dev.db.lock",
    ];
    assert_eq!(names, expected);
}

#[tokio::test]
async fn a_key_is_not_in_what_is_logged_of_an_engine() {
    let engine = Engine::memory().await.unwrap();
    let key = engine.key().unwrap().expose();
    assert_eq!(key.len(), 32);
    assert!(!format!("{engine:?}").contains(key));
}

#[tokio::test]
async fn what_the_engine_cannot_read_is_refused_in_plain_words() {
    let engine = Engine::memory().await.unwrap();
    let clients = engine.clients().await;
    let store = ackbox_store::Store::new(clients.dynamodb, "t");
    let refused = format!("{:?}", store.create_table().await.unwrap_err());
    assert!(
        refused.contains("greater than or equal to 3\")"),
        "{refused}"
    );
    assert!(!refused.contains("VALIDATION:"), "{refused}");
}
