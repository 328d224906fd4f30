use proptest::prelude::*;

use super::*;

fn at<'a>(text: &'a str, pointer: &str) -> Result<Option<&'a str>, Unreadable> {
    find(text.as_bytes(), &pointer.parse().unwrap())
}

#[test]
fn values_are_found_by_pointer_as_raw_text() {
    let text = r#"{"a":{"b":[10,{"c/d~":"x"}]},"n":12345678901234567890123}"#;
    assert_eq!(at(text, "/n").unwrap(), Some("12345678901234567890123"));
    assert_eq!(at(text, "/a/b/1/c~1d~0").unwrap(), Some("\"x\""));
    assert_eq!(at(text, "/a/b/01").unwrap(), None);
    assert_eq!(at(text, "/a/b/7").unwrap(), None);
    assert_eq!(at(text, "/n/x").unwrap(), None);
    assert_eq!(at(text, "/zzz").unwrap(), None);
    assert_eq!(at(text, "").unwrap(), Some(text));
}

#[test]
fn a_name_that_stands_twice_on_the_way_is_an_error_and_beside_the_way_is_not() {
    let twice = r#"{"id":"a","id":"b"}"#;
    assert!(at(twice, "/id").unwrap_err().to_string().contains("twice"));
    assert!(at(r#"{"d":{"id":1},"d":{"x":2}}"#, "/d/id").is_err());
    assert_eq!(
        at(r#"{"x":1,"x":2,"id":"a"}"#, "/id").unwrap(),
        Some("\"a\"")
    );
    // An escape does not hide the repetition.
    assert!(at("{\"id\":\"a\",\"\\u0069d\":\"b\"}", "/id").is_err());
}

#[test]
fn what_stands_beside_the_way_may_be_deep_and_need_not_be_unicode() {
    let deep = format!(
        "{{\"x\":{}{},\"id\":7}}",
        "[".repeat(50_000),
        "]".repeat(50_000)
    );
    assert_eq!(at(&deep, "/id").unwrap(), Some("7"));
    let surrogate = "{\"\\ud800\":\"\\ud800\",\"id\":7}";
    assert_eq!(at(surrogate, "/id").unwrap(), Some("7"));
    let bytes = b"{\"x\":\"\xff\xfe\",\"\xff\":1,\"id\":7}";
    assert_eq!(find(bytes, &"/id".parse().unwrap()).unwrap(), Some("7"));
}

#[test]
fn a_byte_order_mark_is_skipped() {
    let text = b"\xef\xbb\xbf{\"id\":7}";
    assert_eq!(find(text, &"/id".parse().unwrap()).unwrap(), Some("7"));
}

#[test]
fn what_follows_the_document_is_an_error() {
    assert!(at(r#"{"id":1} {"id":2}"#, "/id").is_err());
    assert!(at(r#"{"id":1"#, "/id").is_err());
    assert!(at("", "/id").is_err());
}

#[test]
fn pointers_are_checked() {
    assert_eq!("a".parse::<Pointer>(), Err(NotAPointer::NoSlash));
    assert_eq!("/a~2".parse::<Pointer>(), Err(NotAPointer::Escape));
    assert_eq!("/a~".parse::<Pointer>(), Err(NotAPointer::Escape));
    assert_eq!(
        "/a".repeat(33).parse::<Pointer>(),
        Err(NotAPointer::TooDeep)
    );
    assert!("".parse::<Pointer>().is_ok());
}

#[test]
fn numbers_keep_their_token_and_differ_from_texts() {
    let number = Scalar::from_raw("1").unwrap();
    let text = Scalar::from_raw("\"1\"").unwrap();
    assert_ne!(number, text);
    assert_ne!(number, Scalar::from_raw("1.0").unwrap());
    assert_eq!(Scalar::from_raw("null"), Err(NotAScalar::Null));
    assert_eq!(Scalar::from_raw("{}"), Err(NotAScalar::Container));
    assert_eq!(Scalar::from_raw("\"\\ud800\""), Err(NotAScalar::NotUnicode));
}

#[test]
fn elements_are_the_raw_texts_of_an_array() {
    let found = elements(r#" [ {"a": 1} , 2,"x"]"#, 3).unwrap().unwrap();
    assert_eq!(found, [r#"{"a": 1}"#, "2", "\"x\""]);
    assert_eq!(elements("{}", 3).unwrap(), None);
    for broken in ["[1", "[1,]", "[1] 2"] {
        assert!(elements(broken, 3).is_err(), "{broken}");
    }
}

#[test]
fn elements_are_counted_no_further_than_one_too_many() {
    // What follows is not looked at: not even that it is no JSON.
    let found = elements("[1,2,3,4,5,6,oops", 3).unwrap().unwrap();
    assert_eq!(found, ["1", "2", "3", "4"]);
}

proptest! {
    #[test]
    fn no_bytes_make_the_walk_panic(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        let _ = find(&bytes, &"/a/0/b".parse().unwrap());
    }

    #[test]
    fn any_name_can_be_pointed_to(name in ".{0,20}") {
        let text = serde_json::json!({ &name: 1 }).to_string();
        let token = name.replace('~', "~0").replace('/', "~1");
        let pointer: Pointer = format!("/{token}").parse().unwrap();
        prop_assert_eq!(find(text.as_bytes(), &pointer).unwrap(), Some("1"));
    }
}
