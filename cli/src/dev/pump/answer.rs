//! What a function's answer says of its batch. In comes the answer, out comes where to go on; an
//! answer that cannot be understood repeats everything, and never skips a record.

use serde_json::Value;

use super::record::Ready;

/// The index of the record to repeat from; `None`: the batch is done.
///
/// As "Configuring partial batch response with DynamoDB and Lambda" (Lambda's developer guide) has it:
/// no list, a null or an empty one is success; the lowest sequence number named is where to go on; an
/// identifier that is empty, null, missing or not of this batch repeats all of it.
pub(super) fn repeat_from(answer: &Value, batch: &[Ready]) -> Option<usize> {
    let failures = match answer.get("batchItemFailures") {
        None | Some(Value::Null) => return None,
        Some(Value::Array(failures)) if failures.is_empty() => return None,
        Some(Value::Array(failures)) => failures,
        Some(_) => return Some(0),
    };
    failures
        .iter()
        .map(|failure| {
            let named = failure.get("itemIdentifier").and_then(Value::as_str)?;
            batch
                .iter()
                .position(|record| record.sequence_number == named)
        })
        .map(|at| at.unwrap_or(0))
        .min()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn batch() -> Vec<Ready> {
        ["7", "8", "9"]
            .map(|number| Ready {
                sequence_number: number.to_owned(),
                json: Value::Null,
                bytes: 0,
            })
            .to_vec()
    }

    #[test]
    fn nothing_named_is_success() {
        for answer in [
            json!(null),
            json!({}),
            json!({"batchItemFailures": null}),
            json!({"batchItemFailures": []}),
        ] {
            assert_eq!(repeat_from(&answer, &batch()), None, "{answer}");
        }
    }

    #[test]
    fn the_lowest_record_named_is_where_it_goes_on() {
        let answer =
            json!({"batchItemFailures": [{"itemIdentifier": "9"}, {"itemIdentifier": "8"}]});
        assert_eq!(repeat_from(&answer, &batch()), Some(1));
    }

    #[test]
    fn an_identifier_that_names_no_record_repeats_the_whole_batch() {
        for odd in [json!(null), json!(""), json!("6"), json!(8)] {
            let answer =
                json!({"batchItemFailures": [{"itemIdentifier": "9"}, {"itemIdentifier": odd}]});
            assert_eq!(repeat_from(&answer, &batch()), Some(0), "{answer}");
        }
        for answer in [
            json!({"batchItemFailures": [{"itemidentifier": "9"}]}),
            json!({"batchItemFailures": "9"}),
        ] {
            assert_eq!(repeat_from(&answer, &batch()), Some(0), "{answer}");
        }
    }
}
