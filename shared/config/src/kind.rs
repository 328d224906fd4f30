//! The kinds of destinations: who is spoken to, who answers there, and what the way can carry. What a
//! service fixes is stated here once, each number with the page that says it.

use std::fmt;
use std::time::Duration;

use ackbox_domain::{Carriage, Form, Pointer};

use crate::config::HttpDestination;
use crate::reference::SecretRef;

const KIB: usize = 1024;
const MIB: usize = 1024 * KIB;

/// How a destination is spoken to: `kind = ".."`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Kind {
    /// `http`: one `POST` an attempt.
    Http(HttpDestination),
    /// `sqs`: one `SendMessage` an attempt.
    Sqs(SqsDestination),
    /// `step-functions`: one `StartExecution` an attempt.
    StepFunctions(StepFunctionsDestination),
    /// `lambda`: one `Invoke` an attempt.
    Lambda(LambdaDestination),
}

/// A queue of Amazon SQS.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SqsDestination {
    /// Its URL, as SQS gives it.
    pub queue: String,
    /// The Region that its URL names; `None`: that of the SDK's own configuration.
    pub region: Option<String>,
    /// The message group of a FIFO queue; `None`: a standard queue.
    pub group: Option<Group>,
}

/// What names the group of a FIFO queue's message. Messages of one group arrive one after another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Group {
    /// The action's key: each action is a group of its own.
    Key,
    /// A value of the body.
    Value(Pointer),
}

/// A state machine of AWS Step Functions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StepFunctionsDestination {
    /// Its ARN, with a version or alias where one is named.
    pub state_machine: String,
    /// The Region that the ARN names.
    pub region: String,
    /// Its type.
    pub workflow: Workflow,
}

/// The type of a state machine. It never changes once the state machine is there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Workflow {
    /// Keeps the names of its executions for 90 days.
    Standard,
    /// Keeps nothing.
    Express,
}

/// A function of AWS Lambda.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LambdaDestination {
    /// Its name or ARN, with a version or alias where one is named.
    pub function: String,
    /// The Region that the ARN names; `None`: that of the SDK's own configuration.
    pub region: Option<String>,
    /// Whether its answer is waited for.
    pub invocation: Invocation,
}

/// How a function is invoked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Invocation {
    /// Its answer is waited for, and is the evidence.
    RequestResponse,
    /// It is put in Lambda's own queue, which is the evidence.
    Event,
}

impl Kind {
    /// The word in the configuration.
    pub const fn word(&self) -> &'static str {
        match self {
            Self::Http(_) => "http",
            Self::Sqs(_) => "sqs",
            Self::StepFunctions(_) => "step-functions",
            Self::Lambda(_) => "lambda",
        }
    }

    /// The HTTP destination, if it is one.
    pub const fn http(&self) -> Option<&HttpDestination> {
        match self {
            Self::Http(http) => Some(http),
            _ => None,
        }
    }

    /// The same, to change it.
    pub const fn http_mut(&mut self) -> Option<&mut HttpDestination> {
        match self {
            Self::Http(http) => Some(http),
            _ => None,
        }
    }

    /// The secrets that it needs, each where it is named.
    pub fn secrets(&self) -> impl Iterator<Item = &SecretRef> {
        self.http().into_iter().flat_map(|http| {
            let headers = http.headers.iter().map(|(_, reference)| reference);
            headers.chain(&http.signing)
        })
    }

    /// Whether AWS is spoken to, and so its credentials are needed.
    pub const fn is_aws(&self) -> bool {
        !matches!(self, Self::Http(_))
    }

    /// Who answers there, as a text that differs where somebody else does.
    ///
    /// HTTP: `scheme://host:port`; another path or query is the same. SQS: the queue's URL and what
    /// groups its messages, since a queue may keep keys by group (`DeduplicationScope`). Step Functions:
    /// the state machine's ARN. Lambda: the function as it is named.
    pub fn identity(&self) -> String {
        match self {
            Self::Http(HttpDestination { url, .. }) => {
                let host = url.host_str().unwrap_or_default();
                let port = url.port_or_known_default().unwrap_or_default();
                format!("{}://{host}:{port}", url.scheme())
            }
            Self::Sqs(SqsDestination { queue, group, .. }) => match group {
                None => format!("sqs {queue}"),
                Some(Group::Key) => format!("sqs {queue} key"),
                Some(Group::Value(pointer)) => format!("sqs {queue} {pointer}"),
            },
            Self::StepFunctions(machine) => format!("step-functions {}", machine.state_machine),
            Self::Lambda(lambda) => format!("lambda {}", lambda.function),
        }
    }

    /// What the way there can carry.
    pub fn carriage(&self) -> Carriage {
        let json = |max| Carriage {
            form: Form::Json,
            max: Some(max),
            group: None,
        };
        match self {
            Self::Http(_) => Carriage::ANYTHING,
            Self::Sqs(sqs) => Carriage {
                form: Form::Text,
                max: Some(SqsDestination::BODY_MAX),
                group: match &sqs.group {
                    Some(Group::Value(pointer)) => Some(pointer.clone()),
                    Some(Group::Key) | None => None,
                },
            },
            Self::StepFunctions(_) => json(StepFunctionsDestination::INPUT_MAX),
            Self::Lambda(lambda) => json(lambda.invocation.payload_max()),
        }
    }
}

impl SqsDestination {
    /// How long a FIFO queue keeps a deduplication id (Amazon SQS Developer Guide, "Exactly-once
    /// processing in Amazon SQS": the 5-minute deduplication interval).
    pub const WINDOW: Duration = Duration::from_secs(5 * 60);

    /// The longest body, in bytes: a message has at most 1 MiB (Amazon SQS Developer Guide, "Amazon SQS
    /// message quotas"), of which 1 KiB is kept for our attributes.
    pub const BODY_MAX: usize = MIB - KIB;
}

impl StepFunctionsDestination {
    /// How long the name of a standard execution is kept (AWS Step Functions API Reference,
    /// "StartExecution": names can be reused after 90 days).
    pub const WINDOW: Duration = Duration::from_secs(90 * 24 * 3600);

    /// The longest input, in bytes (AWS Step Functions Developer Guide, "Service quotas": maximum input or
    /// output size, 256 KiB of data as a UTF-8 encoded string).
    pub const INPUT_MAX: usize = 256 * KIB;
}

impl Invocation {
    /// The longest payload, in bytes (AWS Lambda API Reference, "Invoke": 6 MB synchronous, 1 MB
    /// asynchronous).
    pub const fn payload_max(self) -> usize {
        match self {
            Self::RequestResponse => 6 * MIB,
            Self::Event => MIB,
        }
    }
}

/// What is called, and whose it is.
impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Http(http) => http.fmt(f),
            Self::Sqs(sqs) => write!(f, "SendMessage {}", sqs.queue),
            Self::StepFunctions(machine) => write!(f, "StartExecution {}", machine.state_machine),
            Self::Lambda(lambda) => match lambda.invocation {
                Invocation::RequestResponse => write!(f, "Invoke {}", lambda.function),
                Invocation::Event => write!(f, "Invoke {} (event)", lambda.function),
            },
        }
    }
}
