//! The load: the receiver's binary behind the runtime interface, in 1, 8 and 64 environments at once,
//! beside a function that carries out the bare transaction and nothing else; and the dispatcher beside
//! its destination's own speed. All figures are relative to what ran beside it, in turns.

mod drain;
mod drive;

use std::sync::Arc;

use ackbox_tests::bare::TEMPLATE;
use ackbox_tests::engine::{self, Engine};
use ackbox_tests::function::{Function, Setting, beside};
use ackbox_tests::world::World;
use serde_json::Value;

use crate::engine::Process;
use crate::figures::{Figure, handler};
use drive::{Measured, Mix, drive};

/// How often each of the two is driven, by turns.
const ROUNDS: usize = 4;

/// Drives everything, prints it, and says whether the goals are met.
pub(crate) async fn play() -> Result<bool, String> {
    println!(
        "environments  duplicates  accepted/s, of the bare one's  p50, of the bare one's  p99, of the bare one's  processor time an event, of the bare one's"
    );
    for environments in [1, 8, 64] {
        for duplicates in [0, 10, 90] {
            // An engine of its own: one that has held many tables answers more slowly.
            let engine = Process::start().await?;
            let (ours, bare) = receiver(engine.endpoint(), environments, duplicates).await?;
            println!(
                "{environments:12}  {duplicates:8} %  {:>10.0}, {:>15.2}  {:>8.2?}, {:>10.2}  {:>8.2?}, {:>10.2}  {:>8.0?}, {:>10.2}",
                ours.per_second(),
                ours.per_second() / bare.per_second(),
                ours.percentile(50),
                ours.percentile(50).as_secs_f64() / bare.percentile(50).as_secs_f64(),
                ours.percentile(99),
                ours.percentile(99).as_secs_f64() / bare.percentile(99).as_secs_f64(),
                ours.processor_time_each(),
                ours.processor_time_each().as_secs_f64() / bare.processor_time_each().as_secs_f64(),
            );
        }
    }
    let engine = Process::start().await?;
    let figures = vec![
        drain::backlog(engine.endpoint()).await?,
        drain::batch(engine.endpoint()).await?,
    ];
    crate::figures::print(&figures);
    Ok(figures.iter().all(Figure::is_met))
}

/// So many environments of the receiver, and of the bare function beside it.
async fn receiver(
    endpoint: &str,
    environments: usize,
    duplicates: u8,
) -> Result<(Measured, Measured), String> {
    let table = engine::table_name();
    let world = World::on(Engine::at(endpoint), &table, &handler::config()).await;
    let template = handler::template(&world).await?;
    let setting = Setting::new(&handler::config(), &table)?.with(TEMPLATE, &template.to_string());
    let ours = started("receiver", &setting, endpoint, environments).await?;
    let bare = started("transact", &setting, endpoint, environments).await?;
    let (mut of_ours, mut of_bare) = (Measured::default(), Measured::default());
    let mut mix = Mix::new(&world, duplicates);
    let many = if environments == 1 { 250 } else { 500 };
    for round in 0..=ROUNDS {
        let events: Arc<[Value]> = mix.next(many).into();
        let one = drive(&ours, &events).await?;
        let other = drive(&bare, &events).await?;
        // The first round warms connections and caches.
        if round > 0 {
            of_ours.add(one);
            of_bare.add(other);
        }
    }
    Ok((of_ours, of_bare))
}

async fn started(
    program: &str,
    setting: &Setting,
    endpoint: &str,
    many: usize,
) -> Result<Vec<Function>, String> {
    let program = beside(program)?;
    let mut functions = Vec::new();
    for _ in 0..many {
        functions.push(Function::start(&program, setting, endpoint).await?);
    }
    Ok(functions)
}
