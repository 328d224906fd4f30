//! The refusals of DynamoDB as it writes them on the wire: an error's name in, status and JSON out.
//! Shapes: the "Error Handling with DynamoDB" and "TransactWriteItems" pages of its API reference.

use serde_json::{Value, json};

/// What DynamoDB may answer instead of doing what was asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// `ThrottlingException`: the account or table is asked too much.
    Throttled,
    /// `ProvisionedThroughputExceededException`.
    ThroughputExceeded,
    /// `TransactionCanceledException` with these codes by position, without items.
    Cancelled(&'static [&'static str]),
    /// `TransactionConflictException`: a single-item write met a transaction on the same item.
    TransactionConflict,
    /// `TransactionInProgressException`: the same client token is being carried out.
    TransactionInProgress,
    /// `InternalServerError`, with status 500.
    Internal,
    /// `AccessDeniedException`: the function's role lacks the permission.
    AccessDenied,
    /// `ValidationException`: the request is wrong.
    Validation,
    /// `ResourceNotFoundException`: there is no such table.
    NoTable,
}

impl Refusal {
    /// The HTTP status and the body.
    pub(crate) fn on_the_wire(&self) -> (u16, Value) {
        const API: &str = "com.amazonaws.dynamodb.v20120810";
        let service = |name: &str, message: &str| {
            let body = json!({"__type": format!("{API}#{name}"), "message": message});
            (400, body)
        };
        match self {
            Self::Throttled => {
                let body = json!({
                    "__type": "com.amazon.coral.availability#ThrottlingException",
                    "message": "Rate of requests exceeds the allowed throughput.",
                });
                (400, body)
            }
            Self::ThroughputExceeded => service(
                "ProvisionedThroughputExceededException",
                "The level of configured provisioned throughput for the table was exceeded.",
            ),
            Self::Cancelled(codes) => cancelled(API, codes),
            Self::TransactionConflict => service(
                "TransactionConflictException",
                "Transaction is ongoing for the item",
            ),
            Self::TransactionInProgress => service(
                "TransactionInProgressException",
                "The transaction with the given request token is already in progress.",
            ),
            Self::Internal => {
                let name = format!("{API}#InternalServerError");
                (
                    500,
                    json!({"__type": name, "message": "Internal server error"}),
                )
            }
            Self::AccessDenied => {
                let body = json!({
                    "__type": "com.amazon.coral.service#AccessDeniedException",
                    "Message": "User is not authorized to perform this action",
                });
                (400, body)
            }
            Self::Validation => {
                let body = json!({
                    "__type": "com.amazon.coral.validate#ValidationException",
                    "message": "One or more parameter values were invalid",
                });
                (400, body)
            }
            Self::NoTable => service("ResourceNotFoundException", "Requested resource not found"),
        }
    }
}

fn cancelled(api: &str, codes: &[&str]) -> (u16, Value) {
    let message = format!(
        "Transaction cancelled, please refer cancellation reasons for specific reasons [{}]",
        codes.join(", ")
    );
    let reasons: Vec<Value> = codes
        .iter()
        .map(|code| match *code {
            "None" => json!({"Code": "None"}),
            code => json!({"Code": code, "Message": format!("{code} on the item")}),
        })
        .collect();
    let body = json!({
        "__type": format!("{api}#TransactionCanceledException"),
        "Message": message,
        "CancellationReasons": reasons,
    });
    (400, body)
}
