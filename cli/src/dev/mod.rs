//! The whole on one machine: receiver on HTTP, stream pump and sweep timer around the functions' own
//! code, on an embedded engine or another. `ackbox dev` is this, staying up; `demo` and the
//! integration tests are this, for a while.
//!
//! | module | stands for |
//! | --- | --- |
//! | `engine` | DynamoDB and its stream |
//! | `http` | the function URLs of receiver and registrar |
//! | `pump` | the event source mapping between the stream and the dispatcher |
//! | `sweep` | the schedule that wakes the sweeper |
//! | `mapping` | the same event source mapping, before functions that run elsewhere |
//! | `reconcile` | the schedule that wakes the reconciler |
//! | `invoke` | a Lambda sandbox: its timeout, its sudden end |
//! | `token` | IAM, before the registrar |
//! | `runtime` | the deployment |
//!
//! What must never happen: that something is decided here. Everything that is accepted, claimed,
//! delivered or settled is so by the functions' code.

mod clients;
mod command;
mod engine;
mod http;
mod invoke;
mod lock;
mod mapping;
mod pump;
mod reconcile;
mod runtime;
mod sweep;
mod token;

pub use clients::Clients;
pub use command::{Args, run};
pub use engine::{Engine, EngineError, EngineKey};
pub use lock::Announcement;
pub use mapping::pump;
pub use runtime::{Extras, Options, Runtime, StartError, StreamMode};
