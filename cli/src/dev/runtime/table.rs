//! The table before anything runs: an endpoint and a name come in; the table is there, or it is said why
//! not. A table that is something else is never changed.

use std::time::Duration;

use ackbox_store::{Store, StoreError};
use aws_sdk_dynamodb::error::SdkError;

use super::StartError;
use crate::dev::clients::Clients;

/// Whether somebody answers there at all, whatever the answer: the store would try for minutes.
pub(super) async fn reach(clients: &Clients, table: &str) -> Result<(), StartError> {
    const TRIES: u32 = 5;
    for tried in 1.. {
        let described = clients.dynamodb.describe_table().table_name(table).send();
        match described.await {
            Ok(_) | Err(SdkError::ServiceError(_)) => break,
            Err(silent) if tried == TRIES => {
                return Err(StartError::Unreachable {
                    table: table.to_owned(),
                    source: Box::new(silent.into()),
                });
            }
            Err(_) => tokio::time::sleep(Duration::from_millis(200)).await,
        }
    }
    Ok(())
}

/// Creates the table. Where it may not be created, it only has to be there.
pub(super) async fn ensure(store: &Store) -> Result<(), StartError> {
    let unusable = |source| StartError::Table {
        table: store.table().to_owned(),
        source,
    };
    match store.create_table().await {
        Ok(_) => Ok(()),
        Err(refused @ StoreError::Refused { .. }) => match store.meta().await {
            Ok(_) => Ok(()),
            Err(StoreError::NoTable { .. }) => Err(unusable(refused)),
            Err(other) => Err(unusable(other)),
        },
        Err(other) => Err(unusable(other)),
    }
}

/// The table's stream; none: it has none, and the sweep delivers alone.
pub(in crate::dev) async fn stream_arn(
    clients: &Clients,
    table: &str,
) -> Result<Option<String>, StartError> {
    let described = clients
        .dynamodb
        .describe_table()
        .table_name(table)
        .send()
        .await
        .map_err(|error| StartError::Stream {
            table: table.to_owned(),
            source: Box::new(error.into()),
        })?;
    let arn = described.table.and_then(|table| table.latest_stream_arn);
    if arn.is_none() {
        tracing::warn!(table, "the table has no stream: only the sweep delivers");
    }
    Ok(arn)
}
