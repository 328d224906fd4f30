//! What can go wrong on our side of the table. What the table *says* (duplicate, closed, overtaken) is never an error.

use aws_sdk_dynamodb::error::{ProvideErrorMetadata, SdkError};

/// Why the table did not do what was asked.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// Throttled, in collision with another transaction, not reachable or not answering, until the
    /// time budget was spent. It may have been carried out all the same: whoever repeats it sees that.
    #[error("the table was not available for {operation} within the time budget")]
    Unavailable {
        /// What was asked.
        operation: &'static str,
        /// The last answer, if one came.
        #[source]
        source: Option<Box<aws_sdk_dynamodb::Error>>,
    },
    /// There is no such table.
    #[error(
        "there is no table {table:?} at this endpoint and region: create it, or name the right one"
    )]
    NoTable {
        /// Its name.
        table: String,
    },
    /// A table of this name is there, and is not ours.
    #[error("the table {table:?} is not an ackbox table: {problem}")]
    ForeignTable {
        /// Its name.
        table: String,
        /// What is different.
        problem: String,
    },
    /// Larger than one item may be. Nothing was written.
    #[error("the action would make an item of {bytes} bytes; an item has at most {max} bytes", max = crate::schema::ITEM_MAX)]
    TooLarge {
        /// The size of its largest item.
        bytes: usize,
    },
    /// An item that this code cannot read stands where it looked.
    #[error("an item of the table cannot be used")]
    Item(#[source] ItemError),
    /// The service refused for a reason that repeating does not mend (permissions, validation).
    #[error("the table refused {operation} ({code})")]
    Refused {
        /// What was asked.
        operation: &'static str,
        /// The service's code, or what stands for one.
        code: String,
        /// The service's own words.
        #[source]
        source: Box<aws_sdk_dynamodb::Error>,
    },
    /// A value that has no form in the table. Our own defect.
    #[error("an item cannot be encoded")]
    Encode(#[source] serde_dynamo::Error),
}

impl StoreError {
    /// Whether the same call may succeed later. Only [`StoreError::Unavailable`] may.
    pub const fn is_retryable(&self) -> bool {
        matches!(self, Self::Unavailable { .. })
    }
}

/// Why an item is not read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ItemError {
    /// Another kind of item.
    #[error("it is no outbox item")]
    NotOutbox,
    /// Written by a newer version of ackbox: left alone.
    #[error("it has schema version {found}; this version of ackbox knows {known} and leaves it alone", known = crate::schema::SCHEMA_VERSION)]
    NewerSchema {
        /// Its version.
        found: u32,
    },
    /// It is not there any more.
    #[error("it is gone")]
    Gone,
    /// Not in the form that its version has.
    #[error("it is broken: {what}")]
    Broken {
        /// What is wrong.
        what: String,
    },
}

/// What an operation's failure means, where it is not an answer of its own.
pub(crate) fn failed<E>(operation: &'static str, table: &str, error: SdkError<E>) -> StoreError
where
    E: ProvideErrorMetadata,
    aws_sdk_dynamodb::Error: From<SdkError<E>>,
{
    let code = code_of(&error);
    if code == "ResourceNotFoundException" {
        let table = table.to_owned();
        return StoreError::NoTable { table };
    }
    let passes = passes(&error, &code);
    let source = Box::new(aws_sdk_dynamodb::Error::from(error));
    if passes {
        StoreError::Unavailable {
            operation,
            source: Some(source),
        }
    } else {
        StoreError::Refused {
            operation,
            code,
            source,
        }
    }
}
fn code_of<E: ProvideErrorMetadata>(error: &SdkError<E>) -> String {
    match error {
        SdkError::ServiceError(service) => service.err().code().unwrap_or("no code").to_owned(),
        SdkError::ConstructionFailure(_) => "request not built".to_owned(),
        SdkError::TimeoutError(_) => "timeout".to_owned(),
        SdkError::DispatchFailure(_) => "request not sent".to_owned(),
        _ => "answer not understood".to_owned(),
    }
}

/// Whether what went wrong passes by itself: collisions, throttles, our and the service's network.
fn passes<E>(error: &SdkError<E>, code: &str) -> bool {
    match error {
        SdkError::TimeoutError(_) | SdkError::ResponseError(_) => true,
        SdkError::DispatchFailure(failure) => {
            failure.is_io() || failure.is_timeout() || failure.as_other().is_some()
        }
        SdkError::ServiceError(service) => {
            matches!(
                code,
                "TransactionConflictException"
                    | "TransactionInProgressException"
                    | "ProvisionedThroughputExceededException"
                    | "ThrottlingException"
                    | "RequestLimitExceeded"
                    | "ReplicatedWriteConflictException"
                    | "InternalServerError"
            ) || service.raw().status().is_server_error()
        }
        _ => false,
    }
}
