//! State machines: what was started is listed.

use ackbox_config::DestinationConfig;
use ackbox_domain::OutcomeKind;
use aws_sdk_sfn::Client;

use crate::{attempt, destination, key, sdk};

const PASS: &str = r#"{"StartAt":"A","States":{"A":{"Type":"Pass","End":true}}}"#;

async fn machine(client: &Client, name: &str) -> (String, DestinationConfig) {
    let created = client
        .create_state_machine()
        .name(name)
        .definition(PASS)
        .role_arn("arn:aws:iam::000000000000:role/any")
        .send()
        .await
        .unwrap();
    let arn = created.state_machine_arn;
    let there = destination(&format!(
        "kind = \"step-functions\"\nstate_machine = \"{arn}\""
    ));
    (arn, there)
}

async fn executions(client: &Client, arn: &str) -> usize {
    let listed = client.list_executions().state_machine_arn(arn);
    listed.send().await.unwrap().executions.len()
}

#[tokio::test]
#[ignore = "needs services: make test-destinations"]
async fn an_execution_is_started_once_for_two_attempts_under_one_key() {
    let sdk = sdk().await;
    let client = Client::new(&sdk);
    let (arn, there) = machine(&client, "once").await;
    let first = attempt(&sdk, &there, &key("one"), "{\"a\": 1}").await;
    assert_eq!(first.kind, OutcomeKind::Succeeded, "{}", first.detail);
    assert!(
        first.detail.starts_with("200: started execution:once:act_"),
        "{}",
        first.detail
    );
    let again = attempt(&sdk, &there, &key("one"), "{\"a\": 1}").await;
    assert_eq!(again.kind, OutcomeKind::Succeeded, "{}", again.detail);
    assert!(
        again.detail.contains("execution:once:act_"),
        "{}",
        again.detail
    );
    assert_eq!(executions(&client, &arn).await, 1);
}

#[tokio::test]
#[ignore = "needs services: make test-destinations"]
async fn a_name_that_another_input_has_is_rejected_for_good() {
    let sdk = sdk().await;
    let client = Client::new(&sdk);
    let (arn, there) = machine(&client, "taken").await;
    attempt(&sdk, &there, &key("one"), "{\"a\": 1}").await;
    let other = attempt(&sdk, &there, &key("one"), "{\"a\": 2}").await;
    assert_eq!(other.kind, OutcomeKind::Rejected, "{}", other.detail);
    assert!(other.is_final_rejection());
    assert_eq!(executions(&client, &arn).await, 1);
}

#[tokio::test]
#[ignore = "needs services: make test-destinations"]
async fn a_state_machine_that_is_not_there_started_nothing() {
    let sdk = sdk().await;
    let arn = "arn:aws:states:us-east-1:000000000000:stateMachine:nowhere";
    let there = destination(&format!(
        "kind = \"step-functions\"\nstate_machine = \"{arn}\""
    ));
    let outcome = attempt(&sdk, &there, &key("nowhere"), "{}").await;
    assert_eq!(outcome.kind, OutcomeKind::NotSent, "{}", outcome.detail);
}
