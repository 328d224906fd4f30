//! A source and its rule under new names: what comes again is a duplicate of what was accepted under the old ones, at
//! whichever path it comes.

use ackbox_store::schema::kind;
use ackbox_tests::requests::Host;
use ackbox_tests::sender::{Answer, send};
use ackbox_tests::world::{World, answering, order, orders, parsed};

async fn at(world: &World, path: &str, id: &str) -> Answer {
    let receiver = world.receiver().await;
    let mut wire = world.webhook("shop", id, order(1)).wire();
    path.clone_into(&mut wire.path);
    send(&receiver, &wire, Host::FunctionUrl).await
}

#[tokio::test]
async fn a_redelivery_after_a_rename_is_a_duplicate_at_the_old_path_and_at_the_new_one() {
    let destination = answering(200).await;
    // Signed by one secret all along: `webhook` takes that of the source's name.
    let old = orders(&destination).replace("\"message:id\"", "\"source\", \"message:id\"");
    let mut world = World::new(&old).await;
    let receiver = world.receiver().await;
    let first = world.webhook("orders", "m1", order(1)).to(&receiver).await;
    assert_eq!(first.said(), (200, "accepted"));

    let new = old
        .replace("source.orders", "source.shop")
        .replace(
            "[source.shop]\n",
            "[source.shop]\npreviously = [\"orders\"]\n",
        )
        .replace(
            "name = \"ship\"",
            "name = \"send\"\npreviously = [\"ship\"]",
        );
    world.config = parsed(&new);
    for path in ["/hooks/shop", "/hooks/orders", "/hooks/orders/"] {
        let answer = at(&world, path, "m1").await;
        assert_eq!(answer.said(), (200, "duplicate"), "{path}");
    }
    assert_eq!(
        at(&world, "/hooks/other", "m1").await.said(),
        (404, "unknown-source")
    );
    assert_eq!(
        at(&world, "/hooks/orders", "m2").await.said(),
        (200, "accepted")
    );
    assert_eq!(
        at(&world, "/hooks/shop", "m2").await.said(),
        (200, "duplicate")
    );
    assert_eq!(world.table.of_kind(kind::ACCEPTED).await.len(), 2);

    // Without the word, the same fact is another action: that is what it is for.
    world.config = parsed(&new.replace("previously = [\"orders\"]\n", ""));
    assert_eq!(
        at(&world, "/hooks/shop", "m1").await.said(),
        (200, "accepted")
    );
    assert_eq!(
        at(&world, "/hooks/orders", "m1").await.said(),
        (404, "unknown-source")
    );
}
