//! Which shards may be read: in comes what the stream lists and what is done, out come the shards to
//! start. A child is never read before its parent's end, so that an item's records keep their order.

use std::collections::BTreeSet;

/// A shard as the stream lists it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Listed {
    pub id: String,
    pub parent: Option<String>,
}

/// The shards that are neither started nor finished and whose parent, if it is still listed (a parent
/// that is not has been trimmed: nothing of it is left to read), is finished.
pub(super) fn startable(
    listed: &[Listed],
    started: &BTreeSet<String>,
    finished: &BTreeSet<String>,
) -> Vec<String> {
    let waits_for = |parent: &String| {
        !finished.contains(parent) && listed.iter().any(|shard| shard.id == *parent)
    };
    listed
        .iter()
        .filter(|shard| !started.contains(&shard.id) && !finished.contains(&shard.id))
        .filter(|shard| !shard.parent.as_ref().is_some_and(waits_for))
        .map(|shard| shard.id.clone())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shards(pairs: &[(&str, Option<&str>)]) -> Vec<Listed> {
        pairs
            .iter()
            .map(|(id, parent)| Listed {
                id: (*id).to_owned(),
                parent: parent.map(ToOwned::to_owned),
            })
            .collect()
    }

    fn set(ids: &[&str]) -> BTreeSet<String> {
        ids.iter().map(|id| (*id).to_owned()).collect()
    }

    #[test]
    fn a_child_waits_for_its_parents_end() {
        // Children may be listed before their parents.
        let listed = shards(&[("b", Some("a")), ("c", Some("b")), ("a", None)]);
        assert_eq!(startable(&listed, &set(&[]), &set(&[])), ["a"]);
        assert!(startable(&listed, &set(&["a"]), &set(&[])).is_empty());
        assert_eq!(startable(&listed, &set(&[]), &set(&["a"])), ["b"]);
        assert_eq!(startable(&listed, &set(&[]), &set(&["a", "b"])), ["c"]);
    }

    #[test]
    fn a_trimmed_parent_keeps_nobody_waiting() {
        let listed = shards(&[("b", Some("gone")), ("c", Some("gone"))]);
        assert_eq!(startable(&listed, &set(&[]), &set(&[])), ["b", "c"]);
    }
}
