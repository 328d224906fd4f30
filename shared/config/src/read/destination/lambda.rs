//! `kind = "lambda"`: which function, and whether its answer is waited for.

use super::arn::Arn;
use super::{
    ALLOW_PRIVATE_KEY, BACKOFF_KEY, BREAKER_KEY, CONCURRENCY_KEY, KIND, ON_UNKNOWN_KEY,
    RECONCILE_KEY, RETRY_FOR_KEY, TIMEOUT_KEY, WINDOW_KEY,
};
use crate::kind::{Invocation, LambdaDestination};
use crate::read::report::Read;
use crate::read::table::{Key, Table, key};

/// The keys of such a destination.
pub(super) const KEYS: &[Key] = &[
    KIND,
    key("function", "\"fulfil:live\""),
    key("invocation", "\"request-response\""),
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

const INVOCATIONS: &[(&str, Invocation)] = &[
    ("request-response", Invocation::RequestResponse),
    ("event", Invocation::Event),
];

/// Reads what only this kind has.
pub(super) fn lambda(table: &Table<'_>) -> Read<LambdaDestination> {
    let text = table.required("function", table.text("function"));
    let invocation = table.word(
        "invocation",
        INVOCATIONS,
        "\"request-response\" (its answer is waited for) or \"event\" (it is queued)",
    );
    let text = text?;
    let arn = Arn::parse(text.get_ref()).filter(|arn| arn.service == "lambda");
    let named = match &arn {
        Some(arn) => arn.resource.strip_prefix("function:"),
        None => Some(*text.get_ref()),
    };
    if !named.is_some_and(is_function) {
        let message = "`function` is neither the name nor the ARN of a function";
        let help = "write its name or whole ARN, a version or alias behind it if one is meant: function = \"fulfil:live\"";
        return Err(table.report.mistake(&text.span(), message, help));
    }
    Ok(LambdaDestination {
        function: (*text.get_ref()).to_owned(),
        region: arn.map(|arn| arn.region.to_owned()),
        invocation: invocation?.map_or(Invocation::RequestResponse, |word| *word.get_ref()),
    })
}

/// `NAME` or `NAME:QUALIFIER` (AWS Lambda API Reference, "Invoke": FunctionName and Qualifier).
fn is_function(text: &str) -> bool {
    let (name, qualifier) = match text.split_once(':') {
        Some((name, qualifier)) => (name, Some(qualifier)),
        None => (text, None),
    };
    let is_word = |word: &str, max: usize, also: &[u8]| {
        (1..=max).contains(&word.len())
            && word
                .bytes()
                .all(|b| b.is_ascii_alphanumeric() || also.contains(&b))
    };
    is_word(name, 64, b"-_") && qualifier.is_none_or(|q| is_word(q, 128, b"-_$."))
}
