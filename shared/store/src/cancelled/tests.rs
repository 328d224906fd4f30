use aws_sdk_dynamodb::types::AttributeValue;

use super::*;

fn reason(code: &str) -> CancellationReason {
    CancellationReason::builder().code(code).build()
}

fn item(pk: &str) -> Attributes {
    Attributes::from([("pk".to_owned(), AttributeValue::S(pk.to_owned()))])
}

fn taken(pk: &str) -> CancellationReason {
    CancellationReason::builder()
        .code("ConditionalCheckFailed")
        .set_item(Some(item(pk)))
        .build()
}

/// Of three writes, the first two have conditions.
fn read(reasons: [CancellationReason; 3]) -> Cancelled {
    Cancelled::read(&[0, 1], &reasons)
}

fn failed_at(position: usize, pk: &str) -> Cancelled {
    Cancelled::Failed(Failed {
        position,
        item: Some(item(pk)),
    })
}

#[test]
fn a_failed_condition_on_either_item_is_the_answer() {
    let none = || reason("None");
    let both = read([taken("a"), taken("b"), none()]);
    assert_eq!(both, failed_at(0, "a"));
    let outbox_alone = read([none(), taken("b"), none()]);
    assert_eq!(outbox_alone, failed_at(1, "b"));
}

#[test]
fn a_failed_condition_wins_over_every_other_code() {
    for other in ["TransactionConflict", "ThrottlingError", "ValidationError"] {
        let first = read([reason(other), taken("b"), reason(other)]);
        assert_eq!(first, failed_at(1, "b"), "{other}");
        let second = read([taken("a"), reason(other), reason("None")]);
        assert_eq!(second, failed_at(0, "a"), "{other}");
    }
}

#[test]
fn collisions_and_throttles_pass() {
    for code in [
        "TransactionConflict",
        "ThrottlingError",
        "ProvisionedThroughputExceeded",
    ] {
        for reasons in [
            [reason(code), reason("None"), reason("None")],
            [reason("None"), reason(code), reason("None")],
            [reason("None"), reason("None"), reason(code)],
        ] {
            assert_eq!(read(reasons), Cancelled::Passes, "{code}");
        }
    }
}

#[test]
fn every_other_code_is_our_fault_even_beside_one_that_passes() {
    for code in [
        "ValidationError",
        "ItemCollectionSizeLimitExceeded",
        "AccessDenied",
        "New",
    ] {
        let mixed = read([reason("TransactionConflict"), reason(code), reason("None")]);
        assert_eq!(mixed, Cancelled::Refused(code.to_owned()));
    }
    // The payload's put has no condition; one that fails there is no answer about the key.
    let payload = read([reason("None"), reason("None"), taken("c")]);
    let code = "ConditionalCheckFailed".to_owned();
    assert_eq!(payload, Cancelled::Refused(code));
}

#[test]
fn of_two_failed_conditions_the_one_that_shows_its_item_is_the_answer() {
    let blind = || reason("ConditionalCheckFailed");
    assert_eq!(
        read([blind(), taken("b"), reason("None")]),
        failed_at(1, "b")
    );
    let nothing_there = Cancelled::Failed(Failed {
        position: 0,
        item: None,
    });
    assert_eq!(
        read([blind(), reason("None"), reason("None")]),
        nothing_there
    );
}

#[test]
fn what_gives_no_reason_is_never_taken_for_an_answer() {
    let read = |reasons: &[CancellationReason]| Cancelled::read(&[0, 1], reasons);
    assert!(matches!(read(&[]), Cancelled::Refused(_)));
    let nothing = [reason("None"), CancellationReason::builder().build()];
    assert!(matches!(read(&nothing), Cancelled::Refused(_)));
}
