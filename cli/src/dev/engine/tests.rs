use super::*;
use crate::dev::{Announcement, Clients};

async fn tables(engine: &Engine) -> Vec<String> {
    let clients = Clients::local(engine.endpoint()).await;
    let listed = clients.dynamodb.list_tables().send().await.unwrap();
    listed.table_names.unwrap_or_default()
}

async fn create(engine: &Engine, table: &str) {
    let clients = Clients::local(engine.endpoint()).await;
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
