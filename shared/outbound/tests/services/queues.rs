//! Queues: what was sent is received and counted.

use ackbox_domain::OutcomeKind;
use aws_sdk_sqs::Client;
use aws_sdk_sqs::types::{Message, MessageSystemAttributeName, QueueAttributeName};

use crate::{attempt, destination, key, sdk};

/// A new queue, and its URL.
async fn queue(client: &Client, name: &str) -> String {
    let mut create = client.create_queue().queue_name(name);
    if name.ends_with(".fifo") {
        create = create.attributes(QueueAttributeName::FifoQueue, "true");
    }
    create.send().await.unwrap().queue_url.unwrap()
}

/// Every message that the queue has.
async fn received(client: &Client, queue: &str) -> Vec<Message> {
    let mut all = Vec::new();
    loop {
        let answer = client
            .receive_message()
            .queue_url(queue)
            .max_number_of_messages(10)
            .message_attribute_names("All")
            .message_system_attribute_names(MessageSystemAttributeName::All)
            .send()
            .await
            .unwrap();
        let Some(messages) = answer.messages.filter(|found| !found.is_empty()) else {
            return all;
        };
        for message in &messages {
            let handle = message.receipt_handle().unwrap();
            let gone = client
                .delete_message()
                .queue_url(queue)
                .receipt_handle(handle);
            gone.send().await.unwrap();
        }
        all.extend(messages);
    }
}

#[tokio::test]
#[ignore = "needs services: make test-destinations"]
async fn a_fifo_queue_gets_one_message_for_two_attempts_under_one_key() {
    let sdk = sdk().await;
    let client = Client::new(&sdk);
    let url = queue(&client, "once.fifo").await;
    let there = destination(&format!(
        "kind = \"sqs\"\nqueue = \"{url}\"\ngroup = \"/tenant\""
    ));
    let body = r#"{"tenant":"a-7"}"#;
    let first = attempt(&sdk, &there, &key("one"), body).await;
    let again = attempt(&sdk, &there, &key("one"), body).await;
    let other = attempt(&sdk, &there, &key("other"), body).await;
    for outcome in [&first, &again, &other] {
        assert_eq!(outcome.kind, OutcomeKind::Succeeded, "{}", outcome.detail);
    }
    assert_eq!(
        first.detail, again.detail,
        "the evidence is the first message's"
    );
    let messages = received(&client, &url).await;
    assert_eq!(messages.len(), 2, "{messages:?}");
    let message = &messages[0];
    assert_eq!(message.body(), Some(body));
    let told = message.attributes().unwrap();
    assert_eq!(told[&MessageSystemAttributeName::MessageGroupId], "a-7");
    let id = &told[&MessageSystemAttributeName::MessageDeduplicationId];
    assert_eq!(id, key("one").as_str());
    let ours = message.message_attributes().unwrap();
    assert_eq!(ours["ackbox-key"].string_value(), Some(key("one").as_str()));
    assert_eq!(ours["ackbox-source"].string_value(), Some("orders"));
    assert_eq!(
        ours["content-type"].string_value(),
        Some("application/json")
    );
}

#[tokio::test]
#[ignore = "needs services: make test-destinations"]
async fn a_standard_queue_gets_every_message_with_the_key_on_it() {
    let sdk = sdk().await;
    let client = Client::new(&sdk);
    let url = queue(&client, "often").await;
    let there = destination(&format!("kind = \"sqs\"\nqueue = \"{url}\""));
    for _ in 0..2 {
        let outcome = attempt(&sdk, &there, &key("twice"), "{}").await;
        assert_eq!(outcome.kind, OutcomeKind::Succeeded, "{}", outcome.detail);
    }
    let messages = received(&client, &url).await;
    assert_eq!(messages.len(), 2, "{messages:?}");
    for message in messages {
        let ours = message.message_attributes.unwrap();
        assert_eq!(
            ours["ackbox-key"].string_value(),
            Some(key("twice").as_str())
        );
    }
}

#[tokio::test]
#[ignore = "needs services: make test-destinations"]
async fn a_queue_that_is_not_there_got_nothing() {
    let sdk = sdk().await;
    let url = "http://127.0.0.1/000000000000/nowhere.fifo";
    let there = destination(&format!("kind = \"sqs\"\nqueue = \"{url}\""));
    let outcome = attempt(&sdk, &there, &key("nowhere"), "{}").await;
    assert_eq!(outcome.kind, OutcomeKind::NotSent, "{}", outcome.detail);
    assert_eq!(outcome.status, Some(400));
}
