//! How many attempts run at once for one destination, and that others have the rest.

use ackbox_tests::destination::Destination;
use ackbox_tests::world::{World, answering, orders, orders_source, warehouse};
use std::time::Duration;

use super::{DUE, STALLS, accept, count, delivered, moody};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_destination_has_as_many_requests_at_once_as_it_may_and_others_have_the_rest() {
    let (narrow, mood) = moody().await;
    mood.turns(STALLS);
    let wide = answering(200).await;
    let other_source = orders_source()
        .replace("orders", "olds")
        .replace("warehouse", "shop");
    let shop = warehouse(&wide, "{ window = \"24h\" }", "retry");
    let shop = shop.replace("destination.warehouse", "destination.shop");
    let limits = "concurrency = 2\n";
    // A busy machine must not leave some of them to the sweep.
    let delivery = "\n[delivery]\nconcurrency = 3\nstream_budget = \"40s\"\n";
    let config = format!("{}{limits}{other_source}{shop}{delivery}", orders(&narrow));
    let world = World::new(&config).await;
    // Of the narrow one, more than there is room for at all.
    accept(&world, "orders", 0..5).await;
    accept(&world, "olds", 0..5).await;
    let dispatcher = world.dispatcher().await;
    let stream = world.stream().await;
    let others = wide.until(|received| received.len() == 5);
    let (answer, ()) = tokio::join!(
        world.wake(&dispatcher, stream),
        two_at_a_time(&narrow, 5, others)
    );
    assert_eq!(answer["batchItemFailures"], serde_json::json!([]));
    assert_eq!(delivered(&world).await, 10);
    accept(&world, "orders", 5..10).await;
    world.clock.advance(DUE);
    let (swept, ()) = tokio::join!(
        world.sweep(&dispatcher),
        two_at_a_time(&narrow, 10, std::future::ready(()))
    );
    assert_eq!(count(&swept, "attempted"), 5);
    assert_eq!(delivered(&world).await, 15);
}

/// Answers what stalls once it is two, or the last, until there were so many; the first time, `first`
/// comes before.
async fn two_at_a_time(destination: &Destination, all: usize, first: impl Future<Output = ()>) {
    let mut answered = destination.received().len();
    first.await;
    while answered < all {
        let many = (answered + 2).min(all);
        destination.until(|received| received.len() >= many).await;
        // Time for a third, if there were one.
        tokio::time::sleep(Duration::from_millis(30)).await;
        assert_eq!(destination.received().len(), many);
        answered = many;
        destination.release();
    }
}
