//! `kind = "sqs"`: which queue, and what groups its messages where it is a FIFO queue.

use toml::Spanned;
use url::{Host, Url};

use super::idempotency::Keeps;
use super::{
    ALLOW_PRIVATE_KEY, BACKOFF_KEY, BREAKER_KEY, CONCURRENCY_KEY, KIND, ON_UNKNOWN_KEY,
    RECONCILE_KEY, RETRY_FOR_KEY, TIMEOUT_KEY, WINDOW_KEY,
};
use crate::kind::{Group, SqsDestination};
use crate::read::locator::pointer;
use crate::read::nearest::shown;
use crate::read::report::Read;
use crate::read::table::{Key, Table, key};

const QUEUE: &str = "queue";

/// The keys of such a destination.
pub(super) const KEYS: &[Key] = &[
    KIND,
    key(
        QUEUE,
        "\"https://sqs.eu-central-1.amazonaws.com/123456789012/jobs.fifo\"",
    ),
    key("group", "\"key\""),
    WINDOW_KEY,
    ON_UNKNOWN_KEY,
    TIMEOUT_KEY,
    RETRY_FOR_KEY,
    BACKOFF_KEY,
    ALLOW_PRIVATE_KEY,
    RECONCILE_KEY,
    CONCURRENCY_KEY,
    BREAKER_KEY,
];

/// What tells a FIFO queue (Amazon SQS Developer Guide, "Amazon SQS queue and message identifiers").
const FIFO: &str = ".fifo";
/// The longest name of a queue, with what tells that it is FIFO (the same page).
const NAME_MAX: usize = 80;
const ACCOUNT: usize = 12;

/// What the queue does with a deduplication id that it has seen.
pub(super) fn keeps(table: &Table<'_>) -> Option<Keeps> {
    let queue = table.get(QUEUE)?.get_ref().as_str()?;
    Some(if queue.ends_with(FIFO) {
        Keeps::FIFO
    } else {
        Keeps::QUEUE
    })
}

/// Reads what only this kind has.
pub(super) fn sqs(table: &Table<'_>) -> Read<SqsDestination> {
    let text = table.required(QUEUE, table.text(QUEUE));
    let is_fifo = text
        .as_ref()
        .is_ok_and(|text| text.get_ref().ends_with(FIFO));
    let group = group(table, text.is_ok().then_some(is_fifo));
    let text = text?;
    let region = queue(table, &text)?;
    Ok(SqsDestination {
        queue: (*text.get_ref()).to_owned(),
        region,
        group: group?.filter(|_| is_fifo),
    })
}

/// Checks a queue's URL, and gives the Region in it.
fn queue(table: &Table<'_>, text: &Spanned<&str>) -> Read<Option<String>> {
    let wrong = |message: &str| {
        let help = format!(
            "write the queue's URL as SQS shows it: {}",
            table.example(QUEUE)
        );
        table.report.mistake(&text.span(), message, help)
    };
    let url = Url::parse(text.get_ref()).map_err(|_| wrong("`queue` is not the URL of a queue"))?;
    let has_more = url.query().is_some()
        || url.fragment().is_some()
        || !url.username().is_empty()
        || url.password().is_some();
    if !matches!(url.scheme(), "http" | "https") || has_more || !is_path(url.path()) {
        return Err(wrong(
            "`queue` is not the URL of a queue: https://HOST/ACCOUNT/NAME, nothing more",
        ));
    }
    let region = region(&url);
    if region.is_none() && !is_loopback(&url) {
        table.report.warn(
            &text.span(),
            "`queue` names no Region of AWS: messages go to the endpoint of the SDK's own configuration",
            "write the queue's URL as SQS shows it, unless that is meant",
        );
    }
    Ok(region)
}

fn is_path(path: &str) -> bool {
    let Some((account, name)) = path.strip_prefix('/').and_then(|rest| rest.split_once('/')) else {
        return false;
    };
    let stem = name.strip_suffix(FIFO).unwrap_or(name);
    account.len() == ACCOUNT
        && account.bytes().all(|b| b.is_ascii_digit())
        && !stem.is_empty()
        && name.len() <= NAME_MAX
        && stem
            .bytes()
            .all(|b| b.is_ascii_alphanumeric() || b"-_".contains(&b))
}

/// The Region in the host (AWS General Reference, "Amazon SQS endpoints and quotas"): `sqs.REGION.` and
/// `sqs-fips.REGION.`, the older `REGION.queue.`, and `queue.`, which is us-east-1; before the domain of
/// the partition. A name of an interface endpoint ends so too.
fn region(url: &Url) -> Option<String> {
    let Some(Host::Domain(host)) = url.host() else {
        return None;
    };
    let is_aws = ["amazonaws.com", "amazonaws.com.cn", "api.aws"]
        .iter()
        .any(|domain| host.ends_with(&format!(".{domain}")));
    let labels: Vec<&str> = host.split('.').collect();
    let after = |service: &str| {
        let at = labels.iter().position(|label| *label == service)?;
        labels.get(at + 1).copied()
    };
    let region = match (
        after("sqs").or_else(|| after("sqs-fips")),
        labels.as_slice(),
    ) {
        (Some(region), _) => region,
        (None, [region, "queue", ..]) => region,
        (None, ["queue", ..]) => "us-east-1",
        _ => return None,
    };
    (is_aws && region.contains('-')).then(|| region.to_owned())
}

fn is_loopback(url: &Url) -> bool {
    match url.host() {
        Some(Host::Ipv4(address)) => address.is_loopback(),
        Some(Host::Ipv6(address)) => address.is_loopback(),
        Some(Host::Domain(name)) => name == "localhost" || name.ends_with(".localhost"),
        None => false,
    }
}

/// `is_fifo` is `None` where the queue is a mistake itself.
fn group(table: &Table<'_>, is_fifo: Option<bool>) -> Read<Option<Group>> {
    let Some(text) = table.text("group")? else {
        return Ok(Some(Group::Key));
    };
    let (message, help) = if is_fifo == Some(false) {
        (
            "`group` is for FIFO queues, whose names end with \".fifo\"".to_owned(),
            "remove it, or name a FIFO queue",
        )
    } else if *text.get_ref() == "key" {
        return Ok(Some(Group::Key));
    } else if text.get_ref().starts_with('/') {
        return pointer(table.report, &text).map(|pointer| Some(Group::Value(pointer)));
    } else {
        (
            format!("`group` cannot be {}", shown(text.get_ref())),
            "write \"key\" (each action by itself) or a JSON pointer into the body that is sent, as in \"/data/tenant\"",
        )
    };
    Err(table.report.mistake(&text.span(), message, help))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_region_is_read_from_the_hosts_that_sqs_has() {
        for (host, found) in [
            ("sqs.eu-central-1.amazonaws.com", Some("eu-central-1")),
            (
                "sqs-fips.us-gov-west-1.amazonaws.com",
                Some("us-gov-west-1"),
            ),
            ("sqs.cn-north-1.amazonaws.com.cn", Some("cn-north-1")),
            ("sqs.us-west-2.api.aws", Some("us-west-2")),
            (
                "vpce-1a2b-x.sqs.us-east-2.vpce.amazonaws.com",
                Some("us-east-2"),
            ),
            ("eu-west-1.queue.amazonaws.com", Some("eu-west-1")),
            ("queue.amazonaws.com", Some("us-east-1")),
            ("sqs.eu-central-1.example.com", None),
            ("sqs.amazonaws.com", None),
            ("sqs.eu-central-1.amazonaws.com.example.com", None),
            ("localhost:4566", None),
            ("127.0.0.1", None),
        ] {
            let url = Url::parse(&format!("https://{host}/123456789012/q")).unwrap();
            assert_eq!(region(&url).as_deref(), found, "{host}");
        }
    }
}
