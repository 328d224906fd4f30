//! The destinations that were, and those that are: no edit of one changes a key, and some decide what becomes of
//! entries that are open.

use super::Changes;
use crate::config::{Config, DestinationConfig};
use crate::kind::Kind;

/// Compares every destination that was.
pub(super) fn compare(old: &Config, new: &Config, changes: &mut Changes) {
    for (name, was) in &old.destinations {
        let place = format!("[destination.{name}]");
        match new.destinations.get(name) {
            Some(now) => both(&place, was, now, changes),
            None => {
                let is_new = |now: &&DestinationConfig| {
                    !old.destinations.contains_key(&now.name) && now.origin() == was.origin()
                };
                let twin = new.destinations.values().find(is_new);
                let message = match twin {
                    Some(now) => format!(
                        "the destination is removed, and [destination.{}] goes to the same place: what is open stays under the old name, and is held after `no_destination_hold`",
                        now.name
                    ),
                    None => "the destination is removed: what is open for it is held after `no_destination_hold`".to_owned(),
                };
                let help = format!(
                    "keep the table until nothing is open for it: `ackbox list --destination {name}` lists what is; `ackbox check` with the table (--db FILE, --table NAME or --aws) counts it"
                );
                changes.warn(place, message, help);
            }
        }
    }
}

fn both(place: &str, was: &DestinationConfig, now: &DestinationConfig, changes: &mut Changes) {
    if was.origin() != now.origin() {
        let message = format!(
            "it goes to another place ({} was {}): an entry that may have arrived at the old one is held, not sent to the new",
            now.to.identity(),
            was.to.identity()
        );
        let help = "nothing, if that is meant: `ackbox list --state held` shows them; else wait until nothing is open for it".to_owned();
        return changes.warn(place.to_owned(), message, help);
    }
    let (Kind::Http(was), Kind::Http(now)) = (&was.to, &now.to) else {
        return;
    };
    if was.idempotency_header != now.idempotency_header {
        let message = format!(
            "the key is sent in the header {} and was in {}: a destination that has seen it in the old one may execute an open action again",
            now.idempotency_header, was.idempotency_header
        );
        let help =
            "change it while nothing is open for this destination, or where both headers are read"
                .to_owned();
        changes.warn(place.to_owned(), message, help);
    }
}
