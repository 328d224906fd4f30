//! Destination kind `sqs`: one `SendMessage` of the stored body. An action and a queue come in, what is
//! known of the attempt goes out.

use ackbox_config::{DestinationConfig, Group, SqsDestination};
use ackbox_domain::{AttemptOutcome, RenderedBody};
use aws_sdk_sqs::config::{Config, Region};
use aws_sdk_sqs::operation::send_message::SendMessageOutput;
use aws_sdk_sqs::operation::send_message::builders::SendMessageFluentBuilder;
use aws_sdk_sqs::types::MessageAttributeValue;

use crate::aws::{self, Reply, Service};
use crate::deadline::Deadline;
use crate::{Delivery, NotSent, Shared};

/// The attribute with the action's key. A consumer of a standard queue finds there what a FIFO queue has
/// as the deduplication id.
const KEY: &str = "ackbox-key";
/// The attribute with the source.
const SOURCE: &str = "ackbox-source";
/// The attribute with the body's content type.
const CONTENT_TYPE: &str = "content-type";

/// Codes of `SendMessage` (Amazon SQS API Reference, "SendMessage" and "Common Errors").
const SQS: Service = Service {
    refuses_body: &["InvalidMessageContents"],
    later: &["KmsThrottled", "OverLimit"],
    not_begun: &[],
    may_have_run: &[],
};

/// One attempt.
///
/// A FIFO queue gets the action's key as `MessageDeduplicationId`: for five minutes from the first
/// message under it, another one is accepted and not delivered again (Amazon SQS Developer Guide,
/// "Exactly-once processing in Amazon SQS"). A standard queue delivers every message that it accepts, and
/// may deliver one twice by itself (the same guide, "Amazon SQS at-least-once delivery").
///
/// SQS replaces characters that XML 1.0 does not have by U+FFFD without a word (Amazon SQS API Reference,
/// "SendMessage", MessageBody); so a body with one in it is `rejected` here, and not sent.
///
/// | outcome | when |
/// | --- | --- |
/// | `succeeded` | SQS answered 2xx; the message id is the evidence |
/// | `rejected` | the body is no text of at most 1 MiB - 1 KiB, has no value to group by, or SQS refused its characters |
/// | `busy` | throttled, by SQS or by KMS for it |
/// | `not_sent` | as for HTTP; and what SQS turned away at the door: access denied, no such queue, a disabled key |
/// | `unknown` | the request may have left and no answer came; or a 5xx |
pub(crate) async fn deliver(
    shared: &Shared,
    destination: &DestinationConfig,
    sqs: &SqsDestination,
    delivery: &Delivery<'_>,
    may_begin: impl FnOnce() -> bool + Send,
) -> AttemptOutcome {
    let body = match text(destination, delivery.body) {
        Ok(body) => body,
        Err(outcome) => return outcome,
    };
    let clients = match aws::of(shared) {
        Ok(clients) => clients,
        Err(not_sent) => return not_sent.into(),
    };
    let message = match message(clients.sqs().send_message(), destination, sqs, delivery) {
        Ok(message) => message.message_body(body),
        Err(not_sent) => return not_sent.into(),
    };
    let (line, asked) = aws::line(
        shared,
        Deadline::in_time(destination.policy.timeout),
        delivery,
    );
    let mut here = Config::builder().http_client(line.clone());
    here.set_region(sqs.region.clone().map(Region::new));
    let request = message.customize().config_override(here).send();
    match aws::attempt(&line, asked, may_begin, request).await {
        Reply::Done(status, Some(sent)) => aws::succeeded(status, &line.scrub(&evidence(&sent))),
        other => aws::undone(other, &SQS),
    }
}

/// The body, where SQS would deliver it as it is.
fn text(destination: &DestinationConfig, body: &RenderedBody) -> Result<String, AttemptOutcome> {
    destination
        .to
        .carriage()
        .check(body)
        .map_err(|unfit| aws::unfit(&unfit))?;
    // Checked just now; were it not so, U+FFFD is what SQS would make of it.
    Ok(String::from_utf8_lossy(&body.bytes).into_owned())
}

/// Everything but the body.
fn message(
    message: SendMessageFluentBuilder,
    destination: &DestinationConfig,
    sqs: &SqsDestination,
    delivery: &Delivery<'_>,
) -> Result<SendMessageFluentBuilder, NotSent> {
    let key = delivery.key.as_str();
    let mut message = message
        .queue_url(&sqs.queue)
        .message_attributes(KEY, attribute(key)?)
        .message_attributes(SOURCE, attribute(delivery.source.as_str())?);
    if let Some(content_type) = &delivery.body.content_type {
        message = message.message_attributes(CONTENT_TYPE, attribute(content_type)?);
    }
    let group = match &sqs.group {
        None => return Ok(message),
        Some(Group::Key) => key.to_owned(),
        Some(Group::Value(_)) => destination
            .to
            .carriage()
            .group(delivery.body)
            .ok()
            .flatten()
            .ok_or_else(|| NotSent("the body has no value to group by".to_owned()))?,
    };
    Ok(message
        .message_deduplication_id(key)
        .message_group_id(group))
}

fn attribute(value: &str) -> Result<MessageAttributeValue, NotSent> {
    MessageAttributeValue::builder()
        .data_type("String")
        .string_value(value)
        .build()
        .map_err(|error| NotSent(format!("a message attribute cannot be sent: {error}")))
}

fn evidence(sent: &SendMessageOutput) -> String {
    let id = sent.message_id().unwrap_or("without an id");
    match sent.sequence_number() {
        Some(number) => format!("message {id}, sequence number {number}"),
        None => format!("message {id}"),
    }
}
