//! The grammar as it is written: TOML in, plain fields out. Nothing is judged here but unknown fields;
//! [`Scheme::compile`](crate::Scheme::compile) judges everything else, all mistakes at once.

use std::collections::BTreeMap;

use serde::Deserialize;

/// The grammar of one sender, as a data file of this crate or a user's own `[scheme.NAME]` writes it.
///
/// ```toml
/// title  = "Example"                        # for people; default: the scheme's name
/// signed = "{timestamp}.{body}"             # the signed bytes; left out for algorithm = "token"
///
/// [[signature]]                             # where a signature may stand; one or more
/// header        = "X-Example-Signature"     # t=1735689600,v1=6ffb...
/// separator     = ","                       # between items; left out: the whole value is one item
/// key_separator = "="                       # between an item's key and its value
/// key           = "v1"                      # the items that hold a signature
/// algorithm     = "hmac-sha256"             # hmac-sha256, hmac-sha1, ed25519, token
/// encoding      = "hex"                     # hex, base64, base64url; left out for "token"
///
/// [timestamp]
/// key       = "t"                           # an item of the signature header, or: header = "X-Example-Timestamp"
/// unit      = "seconds"                     # or milliseconds
/// tolerance = "5m"                          # both directions; default 5 minutes
/// ```
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct SchemeSpec {
    /// The sender's name for people. Default: the scheme's name.
    pub title: Option<String>,
    /// URLs of the pages that the file's facts come from.
    pub docs: Vec<String>,
    /// The built-in scheme of the same sender, whose facts hold wherever this one says nothing of its own: all
    /// but `title`, `signature`, `signed`, `timestamp` and `secret`.
    pub like: Option<String>,
    /// Where a signature may stand. At least one.
    pub signature: Vec<SignatureSpec>,
    /// The signed bytes: text with the placeholders `{body}`, `{timestamp}`, `{id}` (the header named first in
    /// `id`) and `{header:NAME}`; `{{` and `}}` stand for single braces. Required unless every signature is a token.
    pub signed: Option<String>,
    /// The signed timestamp, for senders that sign one.
    pub timestamp: Option<TimestampSpec>,
    /// The forms that a secret may have, tried in order. Default: text, taken as it is.
    pub secret: Vec<SecretSpec>,
    /// Where the id of the delivery or event stands.
    pub id: Vec<LocatorSpec>,
    /// Where the event's type stands.
    pub event: Vec<LocatorSpec>,
    /// Where the id of the thing that the event is about stands.
    pub subject: Vec<LocatorSpec>,
    /// Where the sender's account stands.
    pub account: Vec<LocatorSpec>,
    /// Event types that only test the endpoint.
    pub test_events: Vec<String>,
    /// Event types that tell of progress only.
    pub progress_events: Vec<String>,
    /// How a redelivery compares: `"same-bytes"` (default), or a list of JSON pointers.
    pub redelivery: Option<RedeliverySpec>,
    /// For how long after a fact the sender may deliver it again. Left out: nothing is known of that.
    pub repeats: Option<RepeatsSpec>,
    /// The field of a form-encoded body that holds the JSON.
    pub form_field: Option<String>,
    /// JSON pointer to the array of events.
    pub each: Option<String>,
    /// The answer that the sender waits for.
    pub acknowledge: Option<AcknowledgeSpec>,
    /// How the sender speaks of jobs, for senders whose events are ends of jobs.
    pub job: Option<JobSpec>,
}

/// One place where a signature may stand. Several of one header must agree on how its value splits.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct SignatureSpec {
    /// The header's name.
    pub header: String,
    /// What stands between items: `","`, `";"`, `" "`. Left out: the whole value is one item.
    pub separator: Option<String>,
    /// What stands between an item's key and its value: `"="`, `","`. Left out: items have no key.
    pub key_separator: Option<String>,
    /// The key of the items that hold this signature: `v1`.
    pub key: Option<String>,
    /// Text in front of the signature that is not part of it: `sha256=`.
    pub prefix: Option<String>,
    /// `hmac-sha256`, `hmac-sha1`, `ed25519`, or `token` (the secret itself, compared in constant time).
    pub algorithm: String,
    /// `hex` (either case), `base64` or `base64url` (padding may be left out). None for `token`.
    pub encoding: Option<String>,
}

/// Where the signed timestamp stands. Exactly one of `header` and `key`.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct TimestampSpec {
    /// A header of its own.
    pub header: Option<String>,
    /// The key of an item of the signature header: `t`.
    pub key: Option<String>,
    /// `seconds` (default) or `milliseconds` since 1970, in decimal digits without leading zeros.
    pub unit: Option<String>,
    /// How far it may be from now, in both directions: `"5m"` (default). Never zero.
    pub tolerance: Option<String>,
}

/// One form that a secret may have.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct SecretSpec {
    /// Text that stands in front and is taken away before decoding: `whsec_`.
    pub prefix: Option<String>,
    /// Whether a secret without the prefix has this form too. Default: no.
    pub prefix_optional: bool,
    /// `text` (default), `base64`, `base64url` or `hex`.
    pub decode: Option<String>,
    /// What the key is: `shared` (default), `ed25519-public` or `ed25519-private`.
    pub key: Option<String>,
    /// Bytes under which a shared key is warned of. Default 16.
    pub min_bytes: Option<usize>,
    /// Bytes over which a shared key is warned of. Default: none.
    pub max_bytes: Option<usize>,
}

/// One place of a value. Exactly one of `header` and `body`.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct LocatorSpec {
    /// A header's name.
    pub header: Option<String>,
    /// A JSON pointer into the body.
    pub body: Option<String>,
}

/// How a redelivery compares.
#[derive(Clone, Debug, Deserialize)]
#[serde(
    untagged,
    expecting = "`redelivery` is \"same-bytes\" or a list of JSON pointers"
)]
pub enum RedeliverySpec {
    /// `"same-bytes"`.
    Word(String),
    /// The pointers whose values stay.
    Pointers(Vec<String>),
}

/// For how long a sender may deliver a fact again, from the first delivery. At least one of both.
///
/// ```toml
/// [repeats]
/// automatic = "3d"    # by itself, while it is not acknowledged
/// manual    = "30d"   # where a person or a program asks for it; or "unbounded"
/// ```
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct RepeatsSpec {
    /// How long it repeats by itself what is not acknowledged: `"3d"`.
    pub automatic: Option<String>,
    /// How long a person or a program can have it repeat anything: `"30d"`, or `"unbounded"`.
    pub manual: Option<String>,
}

/// The answer that the sender waits for.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct AcknowledgeSpec {
    /// How long it waits: `"10s"`.
    pub within: Option<String>,
    /// Which statuses count, and what happens otherwise.
    pub note: String,
}

/// How a sender speaks of jobs.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct JobSpec {
    /// JSON pointers to the job's status, tried in order, for every shape in which the sender tells it.
    pub status: Vec<String>,
    /// What statuses and event types mean, in any case: word = how the job ended.
    pub outcomes: BTreeMap<String, String>,
    /// Statuses and event types of a job that goes on, in any case.
    pub progress: Vec<String>,
    /// Values that the sender tells: name = the JSON pointers to it, tried in order.
    pub values: BTreeMap<String, Vec<String>>,
    /// How the sender is asked about a job.
    pub lookup: Option<LookupSpec>,
}

/// How a sender is asked about a job, by `GET`.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct LookupSpec {
    /// Where to, with `{job_id}` in its place.
    pub url: String,
    /// The headers in which the sender wants a secret.
    pub headers: Vec<String>,
    /// What answers mean; the first that fits counts.
    pub answers: Vec<LookupAnswerSpec>,
}

/// What an answer of one form means. Exactly one of `means` and `outcome`.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct LookupAnswerSpec {
    /// The answer's status.
    pub status: u16,
    /// JSON pointers into its body, and the text of the value that must stand there.
    pub r#where: BTreeMap<String, String>,
    /// `status` (its body is read as an event is) or `not_yet`.
    pub means: Option<String>,
    /// How the job ended, whatever the body says.
    pub outcome: Option<String>,
}

impl SchemeSpec {
    /// Fills what is not said from the facts of another scheme: everything but how it signs, and its name.
    pub(crate) fn fill_from(&mut self, base: Self) {
        fn list<T>(own: &mut Vec<T>, base: Vec<T>) {
            if own.is_empty() {
                *own = base;
            }
        }
        list(&mut self.docs, base.docs);
        list(&mut self.id, base.id);
        list(&mut self.event, base.event);
        list(&mut self.subject, base.subject);
        list(&mut self.account, base.account);
        list(&mut self.test_events, base.test_events);
        list(&mut self.progress_events, base.progress_events);
        self.redelivery = self.redelivery.take().or(base.redelivery);
        self.repeats = self.repeats.take().or(base.repeats);
        self.form_field = self.form_field.take().or(base.form_field);
        self.each = self.each.take().or(base.each);
        self.acknowledge = self.acknowledge.take().or(base.acknowledge);
        self.job = self.job.take().or(base.job);
    }
}
