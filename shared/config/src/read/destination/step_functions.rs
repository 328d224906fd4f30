//! `kind = "step-functions"`: which state machine, and of which type.

use super::arn::Arn;
use super::idempotency::Keeps;
use super::{
    ALLOW_PRIVATE_KEY, BACKOFF_KEY, BREAKER_KEY, CONCURRENCY_KEY, KIND, ON_UNKNOWN_KEY,
    RECONCILE_KEY, RETRY_FOR_KEY, TIMEOUT_KEY, WINDOW_KEY,
};
use crate::kind::{StepFunctionsDestination, Workflow};
use crate::read::report::Read;
use crate::read::table::{Key, Table, key};

const STATE_MACHINE: &str = "state_machine";

/// The keys of such a destination.
pub(super) const KEYS: &[Key] = &[
    KIND,
    key(
        STATE_MACHINE,
        "\"arn:aws:states:eu-central-1:123456789012:stateMachine:fulfil\"",
    ),
    key("type", "\"standard\""),
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

const TYPES: &[(&str, Workflow)] = &[
    ("standard", Workflow::Standard),
    ("express", Workflow::Express),
];

/// What the state machine does with a name of an execution that it has seen.
pub(super) fn keeps(table: &Table<'_>) -> Option<Keeps> {
    match table.get("type") {
        None => Some(Keeps::STANDARD),
        Some(value) => match value.get_ref().as_str()? {
            "standard" => Some(Keeps::STANDARD),
            "express" => Some(Keeps::EXPRESS),
            _ => None,
        },
    }
}

/// Reads what only this kind has.
pub(super) fn step_functions(table: &Table<'_>) -> Read<StepFunctionsDestination> {
    let text = table.required(STATE_MACHINE, table.text(STATE_MACHINE));
    let workflow = table.word(
        "type",
        TYPES,
        "\"standard\" or \"express\", as the state machine was created",
    );
    let text = text?;
    let found = Arn::parse(text.get_ref()).filter(|arn| arn.service == "states");
    let found = found.filter(|arn| is_state_machine(arn.resource));
    let Some(arn) = found else {
        let help = format!(
            "write it as Step Functions shows it, a version or alias behind it if one is meant: {}",
            table.example(STATE_MACHINE)
        );
        let message = "`state_machine` is not the ARN of a state machine";
        return Err(table.report.mistake(&text.span(), message, help));
    };
    Ok(StepFunctionsDestination {
        state_machine: (*text.get_ref()).to_owned(),
        region: arn.region.to_owned(),
        workflow: workflow?.map_or(Workflow::Standard, |word| *word.get_ref()),
    })
}

/// `stateMachine:NAME`, with `:VERSION` or `:ALIAS` where one is named. A name with a slash is a part of
/// one, which cannot be started (StartExecution, "qualified state machine ARN").
fn is_state_machine(resource: &str) -> bool {
    let mut parts = resource.split(':');
    let is_named = parts.next() == Some("stateMachine");
    let rest: Vec<&str> = parts.collect();
    is_named
        && (1..=2).contains(&rest.len())
        && rest.iter().all(|part| {
            (1..=80).contains(&part.len())
                && part
                    .bytes()
                    .all(|b| b.is_ascii_graphic() && !b"<>{}[]?*\"#%\\^|~`$&,;:/".contains(&b))
        })
}
