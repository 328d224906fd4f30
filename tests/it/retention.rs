//! For how long what is closed is kept: as the configuration of its source says, in every function, and under each
//! name that the source had. What is open has no end.

use std::time::Duration;

use ackbox_store::schema::{attribute, kind};
use ackbox_tests::world::{World, answering, order, orders, parsed};

const DAY: Duration = Duration::from_secs(24 * 3600);

fn expiry(items: &[ackbox_tests::engine::Item]) -> Option<u64> {
    items[0].number(attribute::EXPIRES_AT)
}

#[tokio::test]
async fn each_function_writes_the_expiry_that_the_source_says() {
    let destination = answering(200).await;
    let config = orders(&destination).replace(
        "[[source.orders.rule]]",
        "retention = { accepted = \"120d\", entry = \"2d\" }\n\n[[source.orders.rule]]",
    );
    let mut world = World::new(&config).await;
    let receiver = world.receiver().await;
    let accepted_at = world.clock.now();
    world.webhook("orders", "m1", order(1)).to(&receiver).await;
    let accepted = world.table.of_kind(kind::ACCEPTED).await;
    assert_eq!(
        expiry(&accepted),
        Some(accepted_at.plus(120 * DAY).unix_s())
    );
    assert_eq!(expiry(&world.table.of_kind(kind::OUTBOX).await), None);

    // Between acceptance and delivery, the source is renamed.
    world.config = parsed(&config.replace("source.orders", "source.shop").replace(
        "[source.shop]\n",
        "[source.shop]\npreviously = [\"orders\"]\n",
    ));
    let dispatcher = world.dispatcher().await;
    world.wake(&dispatcher, world.stream().await).await;
    let delivered = world.table.of_kind(kind::OUTBOX).await;
    let settled_at = world.clock.now();
    assert_eq!(expiry(&delivered), Some(settled_at.plus(2 * DAY).unix_s()));
}
