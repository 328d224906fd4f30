//! Attempts of the kinds that AWS answers, against scripted servers that speak as the services do. What a
//! test may look at: the outcome, and what arrived at the server.

mod lambda;
mod left;
mod sqs;
mod step_functions;

use std::time::Duration;

use ackbox_config::{
    DestinationConfig, Group, Invocation, Kind, LambdaDestination, SqsDestination,
    StepFunctionsDestination, Workflow,
};
use ackbox_domain::{AttemptOutcome, OutcomeKind};
use ackbox_secrets::Secrets;
use aws_config::{BehaviorVersion, Region, SdkConfig};
use aws_sdk_sqs::config::{Credentials, SharedCredentialsProvider};
use serde_json::Value;

use super::server::{Request, Server, answering};
use super::{attempt, destination};
use crate::Outbound;

/// What signs must never show.
const TOKEN: &str = "session-token-that-nobody-may-see";

/// How AWS is spoken to at this address.
fn sdk(url: &str) -> SdkConfig {
    let credentials = Credentials::new("AKIDEXAMPLE", "secret", Some(TOKEN.into()), None, "test");
    SdkConfig::builder()
        .behavior_version(BehaviorVersion::latest())
        .endpoint_url(url)
        .region(Region::new("us-east-1"))
        .credentials_provider(SharedCredentialsProvider::new(credentials))
        .build()
}

fn outbound<T>(server: &Server<T>) -> Outbound {
    outbound_at(&format!("http://{}", server.address))
}

fn outbound_at(url: &str) -> Outbound {
    Outbound::with_aws(Secrets::new(|_| None), sdk(url))
}

fn destination_of(to: Kind) -> DestinationConfig {
    DestinationConfig {
        to,
        ..destination("https://unused.example.com/")
    }
}

fn queue(name: &str, group: Option<Group>) -> DestinationConfig {
    destination_of(Kind::Sqs(SqsDestination {
        queue: format!("https://sqs.eu-central-1.amazonaws.com/123456789012/{name}"),
        region: Some("eu-central-1".to_owned()),
        group,
    }))
}

fn fifo() -> DestinationConfig {
    queue("jobs.fifo", Some(Group::Key))
}

fn machine(workflow: Workflow) -> DestinationConfig {
    destination_of(Kind::StepFunctions(StepFunctionsDestination {
        state_machine: "arn:aws:states:eu-central-1:123456789012:stateMachine:fulfil:live"
            .to_owned(),
        region: "eu-central-1".to_owned(),
        workflow,
    }))
}

fn function(invocation: Invocation) -> DestinationConfig {
    destination_of(Kind::Lambda(LambdaDestination {
        function: "fulfil:live".to_owned(),
        region: None,
        invocation,
    }))
}

/// An answer in JSON with these further lines of its head.
fn answer(status: u16, lines: &str, body: &str) -> Vec<u8> {
    format!(
        "HTTP/1.1 {status} As It Is\r\ncontent-type: application/x-amz-json-1.0\r\n{lines}content-length: {}\r\n\r\n{body}",
        body.len()
    )
    .into_bytes()
}

/// How a service says no.
fn refused(status: u16, code: &str) -> Vec<u8> {
    let lines = format!("x-amzn-errortype: {code}\r\n");
    let body = format!(r#"{{"__type":"com.amazonaws.x#{code}","message":"because"}}"#);
    answer(status, &lines, &body)
}

/// One attempt against a server that answers so, and what arrived there.
async fn answered(destination: &DestinationConfig, answer: &[u8]) -> (AttemptOutcome, Request) {
    let server = answering(answer).await;
    let outcome = attempt(&outbound(&server), destination).await;
    (outcome, server.seen().await)
}

/// Every one of these refusals has its meaning.
async fn means(destination: &DestinationConfig, refusals: &[(u16, &str, OutcomeKind)]) {
    for (status, code, kind) in refusals {
        let (outcome, _) = answered(destination, &refused(*status, code)).await;
        let found = (outcome.kind, outcome.status);
        assert_eq!(found, (*kind, Some(*status)), "{code}: {}", outcome.detail);
        assert_eq!(outcome.detail, format!("{status}: {code}: because"));
    }
}

impl Request {
    fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap()
    }

    /// `REGION/SERVICE` of the signature.
    fn scope(&self) -> String {
        let authorization = self.header("authorization")[0];
        let credential = authorization.split("Credential=").nth(1).unwrap();
        let parts: Vec<&str> = credential.split('/').collect();
        parts[2..4].join("/")
    }
}

/// Long enough for a test on loopback, and over at once where the clock is moved.
const TIMEOUT: Duration = super::TIMEOUT;
