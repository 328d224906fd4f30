//! What was acknowledged outlives the process.

use ackbox_domain::EntryState;
use ackbox_tests::engine::{Ability, Engine};
use ackbox_tests::world::{World, answering, order, orders};

/// Needs an engine that can close its file and open it again.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_accepted_event_survives_reopening_the_engines_file() {
    if !Engine::can(Ability::Reopen) {
        eprintln!(
            "skipped: this engine's file is not ours to reopen ({:?})",
            Ability::Reopen
        );
        return;
    }
    let destination = answering(200).await;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("table.sqlite");
    let config = orders(&destination);

    let world = World::on(Engine::file(&path).await, "durable", &config).await;
    let receiver = world.receiver().await;
    let answer = world.webhook("orders", "m1", order(1)).to(&receiver).await;
    assert_eq!(answer.said(), (200, "accepted"));
    let before = world.table.items().await;
    world.into_engine().stop().await;

    let world = World::on(Engine::file(&path).await, "durable", &config).await;
    assert_eq!(world.table.items().await, before);
    let receiver = world.receiver().await;
    let answer = world.webhook("orders", "m1", order(1)).to(&receiver).await;
    assert_eq!(answer.said(), (200, "duplicate"));
    let dispatcher = world.dispatcher().await;
    world.clock.advance(std::time::Duration::from_secs(61));
    world.sweep(&dispatcher).await;
    assert_eq!(world.entry().await.state, EntryState::Delivered);
    assert_eq!(destination.received().len(), 1);
}
