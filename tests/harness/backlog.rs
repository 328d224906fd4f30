//! A backlog: one outbox item comes in, many like it come out, as if accepted one by one.

use ackbox_domain::{ActionKey, Scalar};
use ackbox_store::schema::{self, Class, attribute};

use crate::engine::Item;
use crate::world::name;

/// So many entries like this one, each with a key and a shard of its own. Panics where it is no entry.
pub fn like(entry: &Item, many: usize) -> Vec<Item> {
    let destination = entry.text(attribute::DESTINATION);
    let destination = name(destination.expect("an outbox item has a destination"));
    (0..many)
        .map(|number| {
            let part = Scalar::Text(format!("{destination} {number}"));
            let key = ActionKey::new("like", [&part]);
            let shard = schema::work_shard(Class::Open, &destination, &key);
            let item = entry
                .clone()
                .with_text(attribute::PK, schema::action_pk(&key));
            item.with_text(attribute::WORK_SHARD, shard)
        })
        .collect()
}
