//! The engine's operations by their names in the DynamoDB API: a name and a JSON body come in, the JSON of
//! the answer goes out, or the engine's error.

use dynoxide::{Database, DynoxideError};
use serde::Serialize;
use serde::de::DeserializeOwned;

/// What comes before an operation's name in `x-amz-target`: of the table, and of its stream.
const PREFIXES: [&str; 2] = ["DynamoDB_20120810.", "DynamoDBStreams_20120810."];

/// Runs the operation that `x-amz-target` names; none: it is not one of these.
pub(super) fn run(
    of: &Database,
    target: &str,
    body: &[u8],
) -> Option<Result<Vec<u8>, DynoxideError>> {
    let mut prefixes = PREFIXES.iter();
    let operation = prefixes.find_map(|prefix| target.strip_prefix(prefix))?;
    Some(match operation {
        "CreateTable" => call(body, |request| of.create_table(request)),
        "DeleteTable" => call(body, |request| of.delete_table(request)),
        "DescribeTable" => call(body, |request| of.describe_table(request)),
        "ListTables" => call(body, |request| of.list_tables(request)),
        "UpdateTable" => call(body, |request| of.update_table(request)),
        "UpdateTimeToLive" => call(body, |request| of.update_time_to_live(request)),
        "DescribeTimeToLive" => call(body, |request| of.describe_time_to_live(request)),
        "PutItem" => call(body, |request| of.put_item(request)),
        "GetItem" => call(body, |request| of.get_item(request)),
        "DeleteItem" => call(body, |request| of.delete_item(request)),
        "UpdateItem" => call(body, |request| of.update_item(request)),
        "Query" => call(body, |request| of.query(request)),
        "Scan" => call(body, |request| of.scan(request)),
        "BatchGetItem" => call(body, |request| of.batch_get_item(request)),
        "BatchWriteItem" => call(body, |request| of.batch_write_item(request)),
        "TransactGetItems" => call(body, |request| of.transact_get_items(request)),
        "TransactWriteItems" => call(body, |request| of.transact_write_items(request)),
        "ListStreams" => call(body, |request| of.list_streams(request)),
        "DescribeStream" => call(body, |request| of.describe_stream(request)),
        "GetShardIterator" => call(body, |request| of.get_shard_iterator(request)),
        "GetRecords" => call(body, |request| of.get_records(request)),
        _ => return None,
    })
}

fn call<Q: DeserializeOwned, A: Serialize>(
    body: &[u8],
    run: impl FnOnce(Q) -> Result<A, DynoxideError>,
) -> Result<Vec<u8>, DynoxideError> {
    let request = serde_json::from_slice(body).map_err(|error| unread(&error.to_string()))?;
    let answer = run(request)?;
    serde_json::to_vec(&answer)
        .map_err(|error| DynoxideError::InternalServerError(error.to_string()))
}

/// The engine says within the error's text of which class it is, and serde adds the place.
fn unread(text: &str) -> DynoxideError {
    let text = text.rsplit_once(" at line ").map_or(text, |(text, _)| text);
    if let Some(text) = text.strip_prefix("SERIALIZATION:") {
        return DynoxideError::SerializationException(text.to_owned());
    }
    let mut marks = ["VALIDATION:", "VALIDATION_REQUEST:"].iter();
    let unmarked = marks.find_map(|mark| text.strip_prefix(mark));
    DynoxideError::ValidationException(unmarked.unwrap_or(text).to_owned())
}
