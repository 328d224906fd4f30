//! Destination kind `step-functions`: one `StartExecution` with the stored body as its input. An action
//! and a state machine come in, what is known of the attempt goes out.

use ackbox_config::{DestinationConfig, StepFunctionsDestination, Workflow};
use ackbox_domain::{AttemptOutcome, OutcomeKind};
use aws_sdk_sfn::config::{Builder, Config, Region};
use aws_sdk_sfn::types::IncludedData;

use crate::aws::{self, Aws, Line, Refusal, Reply, Service};
use crate::deadline::Deadline;
use crate::{Delivery, Shared};

/// Codes of `StartExecution` (AWS Step Functions API Reference, "StartExecution" and "Common Errors").
const STEP_FUNCTIONS: Service = Service {
    refuses_body: &["InvalidExecutionInput"],
    later: &["ExecutionLimitExceeded", "KmsThrottlingException"],
    not_begun: &[],
    may_have_run: &[],
};

const EXISTS: &str = "ExecutionAlreadyExists";

/// One attempt.
///
/// The action's key is the execution's name. A standard state machine keeps a name for 90 days: the same
/// name with the same input is the same execution while that runs; once it is closed, or with another
/// input, the answer is `ExecutionAlreadyExists` (AWS Step Functions API Reference, "StartExecution").
/// The one and the other are told apart by `DescribeExecution`, in the time of the same attempt. An
/// express state machine keeps no names: "StartExecution isn't idempotent for EXPRESS workflows" (the
/// same page).
///
/// | outcome | when |
/// | --- | --- |
/// | `succeeded` | started now, or, by an earlier attempt, with the same input; the execution is the evidence. How the execution itself ends is not looked at |
/// | `rejected` | the body is no JSON of at most 256 KiB; Step Functions refused the input; another execution with another input has the name |
/// | `busy` | throttled, or too many executions run |
/// | `not_sent` | as for HTTP; and what was turned away at the door: access denied, no such state machine |
/// | `unknown` | the request may have left and no answer came; a 5xx; the name is taken, and what by could not be looked up |
pub(crate) async fn deliver(
    shared: &Shared,
    destination: &DestinationConfig,
    machine: &StepFunctionsDestination,
    delivery: &Delivery<'_>,
    may_begin: impl FnOnce() -> bool + Send,
) -> AttemptOutcome {
    if let Err(unfit) = destination.to.carriage().check(delivery.body) {
        return aws::unfit(&unfit);
    }
    let clients = match aws::of(shared) {
        Ok(clients) => clients,
        Err(not_sent) => return not_sent.into(),
    };
    // Checked just now.
    let input = String::from_utf8_lossy(&delivery.body.bytes);
    let (line, asked) = aws::line(
        shared,
        Deadline::in_time(destination.policy.timeout),
        delivery,
    );
    let request = clients
        .step_functions()
        .start_execution()
        .state_machine_arn(&machine.state_machine)
        .name(delivery.key.as_str())
        .input(&*input)
        .customize()
        .config_override(here(&line, machine))
        .send();
    match aws::attempt(&line, asked, may_begin, request).await {
        Reply::Done(status, Some(started)) => {
            let evidence = started_as(machine, started.execution_arn());
            aws::succeeded(status, &line.scrub(&evidence))
        }
        Reply::Refused(refusal) if is_taken(&refusal, machine) => {
            taken(clients, &line, machine, delivery, &input, &refusal).await
        }
        other => aws::undone(other, &STEP_FUNCTIONS),
    }
}

fn here(line: &Line, machine: &StepFunctionsDestination) -> Builder {
    Config::builder()
        .http_client(line.clone())
        .region(Region::new(machine.region.clone()))
}

/// An express state machine never says so; were it to, nothing could be looked up.
fn is_taken(refusal: &Refusal, machine: &StepFunctionsDestination) -> bool {
    refusal.code == EXISTS && machine.workflow == Workflow::Standard
}

fn started_as(machine: &StepFunctionsDestination, execution: &str) -> String {
    // Whoever takes an express state machine for a standard one relies on names that nobody keeps.
    let is_express = execution.contains(":express:");
    if is_express && machine.workflow == Workflow::Standard {
        return "started, but this state machine is an express one and keeps no names; write type = \"express\"".to_owned();
    }
    format!("started {}", short(execution))
}

/// The ARN without what the configuration says anyway, so that it fits into a detail.
fn short(execution: &str) -> &str {
    execution.find("execution:").map_or_else(
        || {
            execution
                .find("express:")
                .map_or(execution, |at| &execution[at..])
        },
        |at| &execution[at..],
    )
}

/// The name is taken. By the same action, where the input is the same.
async fn taken(
    clients: &Aws,
    line: &Line,
    machine: &StepFunctionsDestination,
    delivery: &Delivery<'_>,
    input: &str,
    refusal: &Refusal,
) -> AttemptOutcome {
    let Some(execution) = execution(machine, delivery) else {
        return aws::unknown(Some(refusal.status), &refusal.words());
    };
    let line = line.again();
    let request = clients
        .step_functions()
        .describe_execution()
        .execution_arn(&execution)
        .included_data(IncludedData::AllData)
        .customize()
        .config_override(here(&line, machine))
        .send();
    let why = match aws::question(&line, request).await {
        Reply::Done(status, Some(found)) => match found.input() {
            Some(theirs) if is_same(theirs, input) => {
                let since = found.start_date().to_string();
                let evidence = format!("already started at {since}: {}", short(&execution));
                return aws::succeeded(status, &line.scrub(&evidence));
            }
            Some(_) => {
                let detail = format!("{EXISTS}: {} has another input", short(&execution));
                return AttemptOutcome::new(OutcomeKind::Rejected, Some(refusal.status), &detail);
            }
            None => "its input is not shown".to_owned(),
        },
        Reply::Done(status, None) => format!("{status}, unreadable"),
        Reply::Refused(refusal) => refusal.words(),
        Reply::NotSent(why) | Reply::Unknown(why) => why,
    };
    let detail = format!("{EXISTS}, and what has the name could not be looked up: {why}");
    aws::unknown(Some(refusal.status), &detail)
}

/// The ARN of the execution with the action's name: `stateMachine:NAME` becomes `execution:NAME:KEY`. A
/// version or alias is no part of it.
fn execution(machine: &StepFunctionsDestination, delivery: &Delivery<'_>) -> Option<String> {
    let (before, named) = machine.state_machine.split_once(":stateMachine:")?;
    let name = named.split(':').next()?;
    Some(format!("{before}:execution:{name}:{}", delivery.key))
}

/// Whether two JSON texts are the same but for white space between their tokens.
fn is_same(theirs: &str, ours: &str) -> bool {
    theirs == ours || tokens(theirs).eq(tokens(ours))
}

/// The characters of a JSON text without the white space outside of strings.
fn tokens(text: &str) -> impl Iterator<Item = char> {
    let mut is_string = false;
    let mut is_escaped = false;
    text.chars().filter(move |c| {
        let is_inside = is_string;
        match c {
            _ if is_escaped => is_escaped = false,
            '\\' if is_string => is_escaped = true,
            '"' => is_string = !is_string,
            _ => {}
        }
        is_inside || !matches!(c, ' ' | '\t' | '\n' | '\r')
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn inputs_are_compared_by_their_tokens() {
        assert!(is_same("{\"a\": [1, \"x\"]}\n", "{\"a\":[1,\"x\"]}"));
        for (one, other) in [
            ("{\"a\":\"x y\"}", "{\"a\":\"xy\"}"),
            ("{\"a\":\"\\\" \"}", "{\"a\":\"\\\"\"}"),
            ("{\"a\":\"\\\\\" }", "{\"a\":\"\\\\ \"}"),
            ("[1]", "[1.0]"),
            ("{}", "{}{}"),
        ] {
            assert!(!is_same(one, other), "{one} and {other}");
        }
    }

    #[test]
    fn the_evidence_leaves_out_what_the_configuration_says() {
        let arn = "arn:aws:states:eu-central-1:123456789012:execution:fulfil:act_x";
        assert_eq!(short(arn), "execution:fulfil:act_x");
        assert_eq!(
            short("arn:aws:states:x:1:express:m:act_x:1"),
            "express:m:act_x:1"
        );
        assert_eq!(short("odd"), "odd");
    }
}
