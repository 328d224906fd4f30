//! What one small event costs in write units from its acceptance to its delivery, as the engine counts.

use ackbox_tests::destination::{Behaviour, Destination};
use ackbox_tests::engine::{self, Engine};
use ackbox_tests::world::{World, order, orders};

use super::figure::Figure;

const GOAL: f64 = 8.0;

/// Write units of one accepted and delivered event, in a process that knows its table.
pub(crate) async fn write_units(endpoint: &str) -> Result<Figure, String> {
    let destination = Destination::start(|_| Behaviour::status(200))
        .await
        .map_err(|error| format!("the destination: {error}"))?;
    let engine = Engine::at(endpoint);
    let world = World::on(engine, &engine::table_name(), &orders(&destination)).await;
    let (receiver, dispatcher) = (world.receiver().await, world.dispatcher().await);
    let mut accepted = 0.0;
    for id in ["warm", "measured"] {
        world.faults.forget();
        world.faults.measure();
        world.webhook("orders", id, order(1)).to(&receiver).await;
        accepted = world.faults.consumed().writes;
        world.wake(&dispatcher, world.stream().await).await;
    }
    if destination.received().len() != 2 {
        return Err("an event was not delivered".to_owned());
    }
    let consumed = world.faults.consumed();
    if accepted == 0.0 {
        return Err("the engine counts no capacity".to_owned());
    }
    Ok(Figure {
        name: "write units of an accepted and delivered small event",
        value: consumed.writes,
        goal: GOAL,
        unit: "units",
        detail: format!(
            "{accepted} of them to accept; {} read units",
            consumed.reads
        ),
    })
}
