//! An action becomes the items of one transaction, its body where it fits best. Too large is said here,
//! before any call.

use std::time::Duration;

use ackbox_domain::{Action, Timing};
use aws_sdk_dynamodb::types::builders::PutBuilder;
use aws_sdk_dynamodb::types::{Put, ReturnValuesOnConditionCheckFailure, TransactWriteItem};

use crate::StoreError;
use crate::body::BodyAttributes;
use crate::item::accepted::AcceptedItem;
use crate::item::outbox::{OutboxItem, inline_room};
use crate::item::{PayloadItem, encode};
use crate::schema::{ITEM_MAX, attribute};
use crate::size::{Attributes, item_size};

/// The accepted item's position in the transaction, and so in its cancellation reasons.
pub(crate) const ACCEPTED: usize = 0;

/// The outbox item's position.
pub(crate) const OUTBOX: usize = 1;

/// What a conflict item has beside the accepted item's attributes and a body: keys, counts, index keys.
const CONFLICT_EXTRA: usize = 256;

/// The puts of one acceptance: accepted, which is `kept` so long, outbox, and a payload where the body does not
/// fit inline.
pub(crate) fn puts(
    table: &str,
    action: &Action,
    timing: &Timing,
    kept: Duration,
) -> Result<Vec<TransactWriteItem>, StoreError> {
    let items = Items::of(action, timing, kept)?;
    let mut puts = vec![
        // Both only if absent: whichever of the two outlives the other still proves the acceptance.
        put_if_absent(table, items.accepted),
        put_if_absent(table, items.outbox),
    ];
    // No condition: the two above guard it, and a payload that outlived them is of no use.
    let payload = items.payload.into_iter();
    puts.extend(payload.map(|item| put_always(table, item)));
    Ok(puts)
}

/// The items of one action.
pub(crate) struct Items {
    pub(crate) accepted: Attributes,
    pub(crate) outbox: Attributes,
    /// Where the body does not fit the outbox item.
    pub(crate) payload: Option<Attributes>,
}

impl Items {
    /// # Errors
    /// [`StoreError::TooLarge`].
    pub(crate) fn of(action: &Action, timing: &Timing, kept: Duration) -> Result<Self, StoreError> {
        let accepted = encode(&AcceptedItem::new(action, kept))?;
        let fresh = OutboxItem::fresh(action, timing);
        let mut outbox = encode(&fresh)?;
        let (inline, payload) = placed(action, item_size(&outbox));
        // Bounds every item of this action, also the conflict item that the same content would need
        // if its key were taken: what is acknowledged can always be recorded whole.
        let body = payload.as_ref().map_or(inline.size(), BodyAttributes::size);
        let bytes = item_size(&accepted) + body + CONFLICT_EXTRA;
        if bytes > ITEM_MAX {
            return Err(StoreError::TooLarge { bytes });
        }
        outbox.extend(encode(&inline)?);
        let payload = payload.map(|body| encode(&PayloadItem::new(fresh.pk, body)));
        Ok(Self {
            accepted,
            outbox,
            payload: payload.transpose()?,
        })
    }
}

/// The body for the outbox item, and the one for the payload item, where the first has no room.
/// A body that fits as it is stays as it is: nothing is saved inside one write unit.
fn placed(action: &Action, size: usize) -> (BodyAttributes, Option<BodyAttributes>) {
    let room = inline_room(size);
    let fits = |body: &BodyAttributes| body.size() <= room;
    let plain_size = action.body.bytes.len();
    if plain_size <= room {
        let plain = BodyAttributes::plain(&action.body);
        if fits(&plain) {
            return (plain, None);
        }
    }
    let smallest = BodyAttributes::smallest(&action.body);
    if fits(&smallest) {
        (smallest, None)
    } else {
        (BodyAttributes::default(), Some(smallest))
    }
}

/// A put of the first sight of a key.
pub(crate) fn put_if_absent(table: &str, item: Attributes) -> TransactWriteItem {
    let conditional = Put::builder()
        .table_name(table)
        // Only the first sight of a key writes; ALL_OLD shows a later one what was first, without a read.
        .condition_expression("attribute_not_exists(#pk)")
        .expression_attribute_names("#pk", attribute::PK)
        .return_values_on_condition_check_failure(ReturnValuesOnConditionCheckFailure::AllOld);
    put(conditional, item)
}

/// A put of what does no harm to write again.
pub(crate) fn put_always(table: &str, item: Attributes) -> TransactWriteItem {
    put(Put::builder().table_name(table), item)
}

fn put(put: PutBuilder, item: Attributes) -> TransactWriteItem {
    let put = put
        .set_item(Some(item))
        .build()
        .expect("a put has a table and an item");
    TransactWriteItem::builder().put(put).build()
}
