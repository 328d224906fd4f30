//! What an item weighs, by the rules of AWS's page "DynamoDB item sizes and formats"
//! (<https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/CapacityUnitCalculations.html>).

use std::collections::HashMap;

use aws_sdk_dynamodb::types::AttributeValue;

/// An item as the SDK has it.
pub(crate) type Attributes = HashMap<String, AttributeValue>;

/// The size of an item in bytes: every attribute's name and value.
pub(crate) fn item_size(item: &Attributes) -> usize {
    item.iter()
        .map(|(name, value)| name.len() + value_size(value))
        .sum()
}

fn value_size(value: &AttributeValue) -> usize {
    // Lists and maps weigh three bytes, and one more for each of their elements.
    const CONTAINER: usize = 3;
    match value {
        AttributeValue::S(text) => text.len(),
        AttributeValue::N(number) => number_size(number),
        AttributeValue::B(bytes) => bytes.as_ref().len(),
        AttributeValue::Ss(texts) => texts.iter().map(String::len).sum(),
        AttributeValue::Ns(numbers) => numbers.iter().map(|n| number_size(n)).sum(),
        AttributeValue::Bs(all) => all.iter().map(|b| b.as_ref().len()).sum(),
        AttributeValue::L(list) => {
            CONTAINER + list.iter().map(|v| 1 + value_size(v)).sum::<usize>()
        }
        AttributeValue::M(map) => CONTAINER + map.len() + item_size(map),
        // Null and boolean.
        _ => 1,
    }
}

/// One byte per two significant digits, rounded up, and one more. Zeros at the ends are not
/// significant to DynamoDB; they are counted here, so the result is never too small.
pub(crate) const fn digits_size(digits: usize) -> usize {
    digits.div_ceil(2) + 1
}

fn number_size(number: &str) -> usize {
    digits_size(number.bytes().filter(u8::is_ascii_digit).count())
}

#[cfg(test)]
mod tests {
    use aws_sdk_dynamodb::primitives::Blob;

    use super::*;

    fn size(value: AttributeValue) -> usize {
        item_size(&HashMap::from([("four".to_owned(), value)]))
    }

    #[test]
    fn names_and_values_are_weighed_as_the_page_says() {
        assert_eq!(size(AttributeValue::S("äb".to_owned())), 4 + 3);
        assert_eq!(size(AttributeValue::N("27".to_owned())), 4 + 2);
        assert_eq!(size(AttributeValue::N("1764423600123".to_owned())), 4 + 8);
        assert_eq!(size(AttributeValue::B(Blob::new([0; 32]))), 4 + 32);
        assert_eq!(size(AttributeValue::Bool(true)), 4 + 1);
        assert_eq!(size(AttributeValue::Null(true)), 4 + 1);
        assert_eq!(size(AttributeValue::L(vec![])), 4 + 3);
        let two = vec![
            AttributeValue::S("ab".to_owned()),
            AttributeValue::Bool(true),
        ];
        assert_eq!(size(AttributeValue::L(two)), 4 + 3 + 2 + 2 + 1);
        let map = HashMap::from([("k".to_owned(), AttributeValue::S("v".to_owned()))]);
        assert_eq!(size(AttributeValue::M(map)), 4 + 3 + 1 + 2);
    }
}
