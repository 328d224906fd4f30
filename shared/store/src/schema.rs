//! The table on one page: items, attributes, keys, the index, and the version of it all.
//! Everything else in this crate takes names from here, and nothing else creates the table.
//!
//! | item | `pk` | `sk` | holds |
//! | --- | --- | --- | --- |
//! | accepted | `ACTION#<key>` | `ACCEPTED` | what was accepted and when: the tombstone that stops late repetitions. Never updated |
//! | outbox | `ACTION#<key>` | `OUTBOX` | the promise to deliver; one write unit for its whole life |
//! | payload | `ACTION#<key>` | `PAYLOAD` | the body, where it does not fit the outbox item |
//! | conflict | `ACTION#<key>` | `CONFLICT#<fingerprint>` | other content that came under the same key |
//! | uncompared | `ACTION#<key>` | `UNCOMPARED#<fingerprint>` | other content under another fingerprint recipe |
//! | job | `JOB#<space>#<id>` | `JOB` | the application's own record of a job, and how it ended once that is known |
//! | seen | `JOB#..` | `SEEN#<identity>` | the observation by which its end became known, as it came |
//! | parked | `JOB#..` | `PARKED#<identity>` | the observed end of a job that is not bound yet |
//! | disagreement | `JOB#..` | `CONFLICT#<digest>` | an observation that does not agree with the job |
//! | operator | any of these but META | `OPERATOR#<time>#<id>` | what an operator did about it, who, when and why. Never updated |
//! | pause | `DESTINATION#<name>` | `PAUSE` | whether a destination is paused, by its breaker or an operator, until when and why; written when that changes |
//! | meta | `META` | `META` | every source, destination, job space and rule ever used; only grows |
//!
//! The index `work` is sparse: an item stands in it while it wants attention, under
//! `<class>#<name>#<n>`, ordered by `due_at`.

use ackbox_domain::job::JobRef;
use ackbox_domain::{ActionKey, Name};

/// The version of everything on this page. A change of an item's shape, a key or [`N_SHARDS`] is a
/// new version; items of a newer version than the code's are left alone.
pub const SCHEMA_VERSION: u32 = 1;

/// Over how many partitions of the index one class and name is spread: about 8,000 index writes a
/// second (a partition takes 1,000 write units). Changing it is a migration.
pub const N_SHARDS: u8 = 8;

/// The sparse index of what wants attention.
pub const WORK_INDEX: &str = "work";

/// Attribute names. Short where they weigh on the outbox item, which stays under [`WRITE_UNIT`].
pub mod attribute {
    /// Partition key, S.
    pub const PK: &str = "pk";
    /// Sort key, S: the kind of the item.
    pub const SK: &str = "sk";
    /// Schema version, N.
    pub const VERSION: &str = "v";
    /// SHA-256 of what must not differ, B of 32.
    pub const FINGERPRINT: &str = "print";
    /// Which values that is, B of 8.
    pub const RECIPE: &str = "recipe";
    /// SHA-256 of the raw bytes, B of 32.
    pub const DIGEST: &str = "digest";
    /// When the action was accepted, N, ms since the epoch, as all times but `expires_at`.
    pub const ACCEPTED_AT: &str = "accepted_at";
    /// The source's name, S.
    pub const SOURCE: &str = "source";
    /// The rule's name, S.
    pub const RULE: &str = "rule";
    /// The destination's name, S.
    pub const DESTINATION: &str = "dest";
    /// The key's namespace, S.
    pub const NAMESPACE: &str = "namespace";
    /// The key's parts, L of L of (name, kind, text).
    pub const PARTS: &str = "parts";
    /// The account, S.
    pub const ACCOUNT: &str = "account";
    /// What the fact is about, S.
    pub const SUBJECT: &str = "subject";
    /// The event's type, S.
    pub const EVENT: &str = "event";
    /// The message's own id, S.
    pub const MESSAGE_ID: &str = "message_id";
    /// The body as it is sent, B.
    pub const BODY: &str = "body";
    /// The body as raw DEFLATE (RFC 1951), B; instead of `body`, where that is smaller.
    pub const BODY_DEFLATED: &str = "body_z";
    /// The values of an observation, M.
    pub const VALUES: &str = "values";
    /// The body's content type, S.
    pub const CONTENT_TYPE: &str = "type";
    /// The body's content encoding, S.
    pub const CONTENT_ENCODING: &str = "coding";
    /// The entry's state, S; of a conflict: what an operator made of it.
    pub const STATE: &str = "state";
    /// Why it stands there, S.
    pub const REASON: &str = "reason";
    /// How many claims and operator's words there were, N; of a pause: how many changes.
    pub const FENCE: &str = "fence";
    /// The open claim's id, S; of a pause: the last change's.
    pub const CLAIM: &str = "claim";
    /// When it was taken, N.
    pub const CLAIMED_AT: &str = "claimed_at";
    /// Until when its request may run, N.
    pub const LEASE_UNTIL: &str = "lease_until";
    /// When the first attempt that may have arrived began, N.
    pub const FIRST_UNCERTAIN_AT: &str = "first_uncertain_at";
    /// The number of the last attempt of which the destination or an operator has said that it is in nobody's
    /// way, N; absent: nobody has.
    pub const CLEARED_FENCE: &str = "cleared_fence";
    /// When an operator last had it sent again, N.
    pub const REDRIVEN_AT: &str = "redriven_at";
    /// Whether an operator ever vouched for a repetition of what may have arrived, BOOL; absent: no.
    pub const VOUCHED: &str = "vouched";
    /// Hash of the origin that the last attempt spoke to, B of 8.
    pub const ORIGIN: &str = "origin";
    /// The last attempts, compact, separated by spaces, S.
    pub const ATTEMPTS: &str = "attempts";
    /// What happened last in words, S.
    pub const DETAIL: &str = "detail";
    /// When the entry was closed or held, or a conflict resolved, N. While the reason is `no-such-destination`: since when.
    pub const SETTLED_AT: &str = "settled_at";
    /// Index partition, S: `<class>#<name>#<n>`.
    pub const WORK_SHARD: &str = "work_shard";
    /// Index order, N: when the item wants attention.
    pub const DUE_AT: &str = "due_at";
    /// Time to live, N, whole **seconds**. Garbage collection only: no reader relies on it.
    pub const EXPIRES_AT: &str = "expires_at";
    /// When a conflict was first seen, N.
    pub const FIRST_SEEN: &str = "first_seen";
    /// When a conflict was last seen, N.
    pub const LAST_SEEN: &str = "last_seen";
    /// How often a conflict was seen, N; the how many-th pause in a row it is, N.
    pub const COUNT: &str = "count";
    /// Since when a destination is paused, N.
    pub const SINCE: &str = "since";
    /// Until when, N. Whoever reads it compares. Absent from an operator's pause: until they end it.
    pub const UNTIL: &str = "until";
    /// Which operator paused it, S.
    pub const BY: &str = "by";
    /// META: every destination ever used, SS.
    pub const DESTINATIONS: &str = "destinations";
    /// META: every source ever used, SS.
    pub const SOURCES: &str = "sources";
    /// META: every job space ever used, SS.
    pub const SPACES: &str = "spaces";
    /// META: every rule that ever made an action, a line of JSON each with what is in its keys, SS.
    pub const RULES: &str = "rules";
    /// The job's record as the application wrote it, JSON, S.
    pub const BINDING: &str = "binding";
    /// How a job ended, S; absent: nobody knows yet.
    pub const OUTCOME: &str = "outcome";
    /// When that became known, N.
    pub const ENDED_AT: &str = "ended_at";
    /// When a job was given up, N.
    pub const SILENT_AT: &str = "silent_at";
    /// How often a job's system was asked, N.
    pub const ASKED: &str = "asked";
    /// When a parked observation was given up, N.
    pub const EXPIRED_AT: &str = "expired_at";
}

/// Sort keys: what an item is.
pub mod kind {
    /// The tombstone of an accepted action.
    pub const ACCEPTED: &str = "ACCEPTED";
    /// The promise to deliver it.
    pub const OUTBOX: &str = "OUTBOX";
    /// Its body, where that is large.
    pub const PAYLOAD: &str = "PAYLOAD";
    /// Followed by the fingerprint's first 16 hex characters.
    pub const CONFLICT: &str = "CONFLICT#";
    /// Followed by the fingerprint's first 16 hex characters.
    pub const UNCOMPARED: &str = "UNCOMPARED#";
    /// The record of a job.
    pub const JOB: &str = "JOB";
    /// Followed by the observation's identity, 32 hex characters.
    pub const SEEN: &str = "SEEN#";
    /// Followed by the observation's identity, 32 hex characters.
    pub const PARKED: &str = "PARKED#";
    /// Whether a destination is paused.
    pub const PAUSE: &str = "PAUSE";
    /// Followed by the time in ms, 13 digits, and an id: in the order of time.
    pub const OPERATOR: &str = "OPERATOR#";
    /// Both keys of the one meta item.
    pub const META: &str = "META";
}

/// A write unit of DynamoDB: what an item may weigh so that writing it costs one.
pub const WRITE_UNIT: usize = 1024;

/// The most that one item may weigh: 400 KB, names included (DynamoDB's quotas page, "Items").
pub const ITEM_MAX: usize = 400 * 1024;

/// How many rules META remembers. What comes after them is not remembered, and edits of it are not seen; nothing
/// else depends on it. Editing a rule makes a line more.
pub const RULES_MAX: usize = 1000;

/// How many bytes their lines may have in all, so that META stays far below what an item may weigh.
pub const RULES_BYTES_MAX: usize = 128 * 1024;

/// How many days a parked observation that was given up is kept before DynamoDB collects it.
pub const EXPIRED_KEPT_DAYS: u64 = 30;

/// How many days what an operator did is kept: longer than most of what it was done about.
pub const OPERATOR_KEPT_DAYS: u64 = 365;

/// What an item in the index wants. The word is part of `work_shard`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Class {
    /// Entries pending or claimed, by destination.
    Open,
    /// Entries whose destination is to be asked, by destination.
    Unknown,
    /// Entries that wait for an operator, by destination.
    Held,
    /// Entries given up, by destination.
    Dead,
    /// Other content under a known key, by source.
    Conflict,
    /// Observations of jobs that are not bound yet, by job space.
    Parked,
    /// Bound jobs without an end, by job space.
    Job,
    /// Bound jobs that were given up, by job space.
    Silent,
}

impl Class {
    /// The word in the index.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::Unknown => "unknown",
            Self::Held => "held",
            Self::Dead => "dead",
            Self::Conflict => "conflict",
            Self::Parked => "parked",
            Self::Job => "job",
            Self::Silent => "silent",
        }
    }
}

const ACTION: &str = "ACTION#";

/// The partition of everything about one action.
pub fn action_pk(key: &ActionKey) -> String {
    format!("{ACTION}{key}")
}

/// The action whose partition this is; `None` for another item's.
pub fn action_of(pk: &str) -> Option<ActionKey> {
    pk.strip_prefix(ACTION)?.parse().ok()
}

const JOB: &str = "JOB#";

/// The partition of everything about one job: `JOB#<space>#<id>`, and where ids are unique only within an
/// account `JOB#<space>@<the account's length in bytes>:<account>#<id>`. A space has neither `#` nor `@`, so no
/// id and no account can be read as another's.
pub fn job_pk(job: &JobRef) -> String {
    let JobRef { space, id, account } = job;
    match account {
        None => format!("{JOB}{space}#{id}"),
        Some(account) => format!("{JOB}{space}@{}:{account}#{id}", account.len()),
    }
}

/// The job whose partition this is; `None` for another item's.
pub fn job_of(pk: &str) -> Option<JobRef> {
    let rest = pk.strip_prefix(JOB)?;
    let (space, rest) = rest.split_at_checked(rest.find(['#', '@'])?)?;
    let (account, id) = match rest.strip_prefix('@') {
        None => (None, rest.strip_prefix('#')?),
        Some(rest) => {
            let (length, rest) = rest.split_once(':')?;
            let (account, id) = rest.split_at_checked(length.parse().ok()?)?;
            (Some(account.to_owned()), id.strip_prefix('#')?)
        }
    };
    Some(JobRef {
        space: space.parse().ok()?,
        id: id.to_owned(),
        account,
    })
}

/// The partition of what is known of a destination.
pub fn destination_pk(name: &Name) -> String {
    format!("DESTINATION#{name}")
}

/// The index partition of an action's item.
pub fn work_shard(class: Class, name: &Name, key: &ActionKey) -> String {
    numbered_shard(class, name, shard_of(key.as_str()))
}

/// The index partition of a job's item. Any number would do: it is kept nowhere else.
pub fn job_shard(class: Class, name: &Name, job: &JobRef) -> String {
    numbered_shard(class, name, shard_of(&job.id))
}

/// The `n`th index partition of a class and name.
pub fn numbered_shard(class: Class, name: &Name, n: u8) -> String {
    format!("{}#{name}#{n}", class.as_str())
}

/// Which of the [`N_SHARDS`] an item belongs to: FNV-1a (32 bits) of its identity.
fn shard_of(identity: &str) -> u8 {
    let hash = identity.bytes().fold(0x811c_9dc5_u32, |hash, byte| {
        (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193)
    });
    (hash % u32::from(N_SHARDS)) as u8
}
