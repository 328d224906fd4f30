//! The event source mapping alone, before functions that run somewhere else: the table's stream comes
//! in, invocations go out, as [`super::Runtime`] wakes its own dispatcher.

use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;
use tokio::sync::{Notify, watch};

use super::clients::Clients;
use super::invoke::InvocationError;
use super::pump::{self, Mapping, Origin};
use super::runtime::{FIRST_PAUSE, RETRIES, StartError, table};

/// Pumps the stream of a table until `stop` says so: batches of up to a hundred new entries, from the
/// oldest on, repeated where `invoke` fails or names records that have.
///
/// # Errors
///
/// The table or its stream cannot be looked up.
pub async fn pump<I, F>(
    clients: Clients,
    table: String,
    stop: watch::Receiver<bool>,
    invoke: I,
) -> Result<(), StartError>
where
    I: Fn(Value) -> F + Send + Sync + 'static,
    F: Future<Output = Result<Value, String>> + Send,
{
    let Some(stream_arn) = table::stream_arn(&clients, &table).await? else {
        return Ok(());
    };
    let origin = Origin {
        client: clients.streams,
        stream_arn,
        checkpoints: None,
        nudge: Arc::new(Notify::new()),
        stop,
    };
    let mapping = Mapping {
        batch: 100,
        window: Duration::ZERO,
        retries: RETRIES,
        first_pause: FIRST_PAUSE,
    };
    pump::run(origin, mapping, move |event| {
        let invoked = invoke(event);
        async move { invoked.await.map_err(InvocationError::Refused) }
    })
    .await;
    Ok(())
}
