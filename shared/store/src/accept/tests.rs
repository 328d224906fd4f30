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

fn read(reasons: [CancellationReason; 3]) -> Cancelled {
    Cancelled::read(&reasons)
}

#[test]
fn a_failed_condition_on_either_item_is_the_answer() {
    let none = || reason("None");
    let both = read([taken("a"), taken("b"), none()]);
    assert_eq!(both, Cancelled::Taken(item("a")));
    let outbox_alone = read([none(), taken("b"), none()]);
    assert_eq!(outbox_alone, Cancelled::Taken(item("b")));
}

#[test]
fn a_failed_condition_wins_over_every_other_code() {
    for other in ["TransactionConflict", "ThrottlingError", "ValidationError"] {
        let first = read([reason(other), taken("b"), reason(other)]);
        assert_eq!(first, Cancelled::Taken(item("b")), "{other}");
        let second = read([taken("a"), reason(other), reason("None")]);
        assert_eq!(second, Cancelled::Taken(item("a")), "{other}");
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
fn what_cannot_be_read_is_never_taken_for_a_duplicate() {
    let blind = [reason("ConditionalCheckFailed"), reason("None")];
    assert!(matches!(Cancelled::read(&blind), Cancelled::Refused(_)));
    assert!(matches!(Cancelled::read(&[]), Cancelled::Refused(_)));
    let nothing = [reason("None"), CancellationReason::builder().build()];
    assert!(matches!(Cancelled::read(&nothing), Cancelled::Refused(_)));
}
