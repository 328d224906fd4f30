use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::*;
use crate::VALUE_MAX;

const SECOND: Duration = Duration::from_secs(1);

fn env(name: &str) -> SecretRef {
    SecretRef::Env(name.to_owned())
}

fn file(path: &Path) -> SecretRef {
    SecretRef::File(path.to_owned())
}

async fn value(secrets: &Secrets, reference: &SecretRef) -> Result<String, SecretError> {
    let value = secrets.resolve_one(reference).await?;
    Ok(value.expose().to_owned())
}

/// Secrets whose every variable counts how often it was read: `NAME-1`, `NAME-2`.
fn counting() -> Secrets {
    let count = AtomicUsize::new(0);
    Secrets::new(move |name| {
        let nth = count.fetch_add(1, Ordering::Relaxed) + 1;
        Some(format!("{name}-{nth}"))
    })
}

/// A file with these bytes, and secrets that know no variable.
fn written(bytes: &[u8]) -> (tempfile::NamedTempFile, Secrets) {
    let place = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(place.path(), bytes).unwrap();
    (place, Secrets::new(|_| None))
}

#[tokio::test]
async fn values_come_in_the_order_of_their_references() {
    let secrets = Secrets::new(|name| Some(name.to_lowercase()));
    let values = secrets
        .resolve(&[env("B"), env("A"), env("B")])
        .await
        .unwrap();
    let values: Vec<&str> = values.iter().map(SecretValue::expose).collect();
    assert_eq!(values, ["b", "a", "b"]);
    assert!(secrets.resolve(&[]).await.unwrap().is_empty());
}

#[tokio::test]
async fn one_that_is_gone_does_not_take_the_others_with_it() {
    let secrets = Secrets::new(|name| (name != "GONE").then(|| name.to_owned()));
    let references = [env("A"), env("GONE"), env("B")];
    assert!(secrets.resolve(&references).await.is_err());
    let each = secrets.resolve_each(&references).await;
    let had: Vec<(&SecretRef, Option<&str>)> = each
        .iter()
        .map(|(reference, value)| (*reference, value.as_ref().ok().map(SecretValue::expose)))
        .collect();
    let [a, gone, b] = &references;
    assert_eq!(had, [(a, Some("A")), (gone, None), (b, Some("B"))]);
}

#[tokio::test]
async fn a_variable_is_taken_as_it_is() {
    let secrets = Secrets::new(|_| Some(" spaced\n".to_owned()));
    assert_eq!(value(&secrets, &env("A")).await.unwrap(), " spaced\n");
}

#[tokio::test]
async fn a_variable_that_is_not_set_or_blank_is_refused_by_name() {
    let secrets = Secrets::new(|name| (name == "BLANK").then(|| " \n".to_owned()));
    let error = value(&secrets, &env("MISSING")).await.unwrap_err();
    assert!(matches!(error, SecretError::NotSet { .. }));
    assert!(
        error.to_string().starts_with("secret env:MISSING: "),
        "{error}"
    );
    let error = value(&secrets, &env("BLANK")).await.unwrap_err();
    assert_eq!(error.reference(), &env("BLANK"));
    assert!(matches!(error, SecretError::Unusable { .. }));
}

#[tokio::test]
async fn one_line_end_at_the_end_of_a_file_is_not_part_of_the_secret() {
    for (bytes, expected) in [
        ("s3cret", "s3cret"),
        ("s3cret\n", "s3cret"),
        ("s3cret\r\n", "s3cret"),
        ("s3cret\n\n", "s3cret\n"),
        (" two\nlines \n", " two\nlines "),
    ] {
        let (place, secrets) = written(bytes.as_bytes());
        assert_eq!(
            value(&secrets, &file(place.path())).await.unwrap(),
            expected
        );
    }
}

#[tokio::test]
async fn a_file_that_holds_no_secret_is_refused_without_showing_it() {
    let longest = "x".repeat(VALUE_MAX);
    let too_long = "hunter2".repeat(VALUE_MAX / 7 + 1);
    let would_fit_if_cut = format!("{longest}\nhunter2");
    for bytes in [
        b"".as_slice(),
        b"\n",
        b" \r\n",
        b"hunter2\xff",
        too_long.as_bytes(),
        would_fit_if_cut.as_bytes(),
    ] {
        let (place, secrets) = written(bytes);
        let error = value(&secrets, &file(place.path())).await.unwrap_err();
        assert!(matches!(error, SecretError::Unusable { .. }));
        assert!(!format!("{error} {error:?}").contains("hunter2"));
    }
}

#[tokio::test]
async fn a_file_of_the_greatest_length_is_read_whole() {
    let longest = "x".repeat(VALUE_MAX);
    for line_end in ["", "\n", "\r\n"] {
        let (place, secrets) = written((longest.clone() + line_end).as_bytes());
        let read = value(&secrets, &file(place.path())).await.unwrap();
        assert!(read == longest, "{line_end:?}");
    }
}

#[tokio::test]
async fn what_is_no_file_is_unreadable() {
    let folder = tempfile::tempdir().unwrap();
    let secrets = Secrets::new(|_| None);
    for path in [folder.path().to_owned(), folder.path().join("missing")] {
        let error = value(&secrets, &file(&path)).await.unwrap_err();
        assert!(matches!(error, SecretError::Unreadable { .. }), "{error}");
        assert!(
            error.to_string().contains(&*path.to_string_lossy()),
            "{error}"
        );
    }
}

#[tokio::test]
async fn a_parameter_is_unsupported_and_the_error_says_so() {
    let reference: SecretRef = "ssm:/ackbox/reports/next".parse().unwrap();
    let error = value(&counting(), &reference).await.unwrap_err();
    assert!(matches!(error, SecretError::Unsupported { .. }));
    let text = error.to_string();
    assert!(
        text.contains("ssm:/ackbox/reports/next") && text.contains("env:NAME"),
        "{text}"
    );
}

#[tokio::test(start_paused = true)]
async fn a_value_is_read_again_when_it_is_old_and_not_before() {
    let secrets = counting();
    assert_eq!(value(&secrets, &env("A")).await.unwrap(), "A-1");
    tokio::time::advance(AGE_MAX - SECOND).await;
    assert_eq!(value(&secrets.clone(), &env("A")).await.unwrap(), "A-1");
    tokio::time::advance(SECOND).await;
    assert_eq!(value(&secrets, &env("A")).await.unwrap(), "A-2");
}

#[tokio::test(start_paused = true)]
async fn a_file_that_cannot_be_read_again_leaves_its_last_value_for_an_hour() {
    let (place, secrets) = written(b"old");
    let reference = file(place.path());
    assert_eq!(value(&secrets, &reference).await.unwrap(), "old");
    std::fs::remove_file(place.path()).unwrap();
    tokio::time::advance(AGE_MAX).await;
    assert_eq!(value(&secrets, &reference).await.unwrap(), "old");

    // Not read again at once, and read again soon.
    std::fs::write(place.path(), "new").unwrap();
    assert_eq!(value(&secrets, &reference).await.unwrap(), "old");
    tokio::time::advance(RETRY_AFTER).await;
    assert_eq!(value(&secrets, &reference).await.unwrap(), "new");

    std::fs::remove_file(place.path()).unwrap();
    tokio::time::advance(AGE_MAX + STALE_MAX - SECOND).await;
    assert_eq!(value(&secrets, &reference).await.unwrap(), "new");
    tokio::time::advance(SECOND).await;
    value(&secrets, &reference).await.unwrap_err();
}

#[tokio::test(start_paused = true)]
async fn a_file_that_now_holds_nothing_is_an_error_at_once() {
    let (place, secrets) = written(b"old");
    let reference = file(place.path());
    value(&secrets, &reference).await.unwrap();
    std::fs::write(place.path(), "").unwrap();
    tokio::time::advance(AGE_MAX).await;
    value(&secrets, &reference).await.unwrap_err();
}

#[tokio::test(start_paused = true)]
async fn a_refusal_has_the_values_read_again_once_a_minute() {
    let secrets = counting();
    let references = [env("A")];
    value(&secrets, &references[0]).await.unwrap();
    assert!(secrets.refresh_after_refusal(&references));
    assert_eq!(value(&secrets, &references[0]).await.unwrap(), "A-2");

    assert!(!secrets.refresh_after_refusal(&references));
    assert_eq!(value(&secrets, &references[0]).await.unwrap(), "A-2");
    tokio::time::advance(REFUSAL_PAUSE - SECOND).await;
    assert!(!secrets.refresh_after_refusal(&references));
    tokio::time::advance(SECOND).await;
    assert!(secrets.refresh_after_refusal(&references));
    assert_eq!(value(&secrets, &references[0]).await.unwrap(), "A-3");
}

#[tokio::test(start_paused = true)]
async fn sets_of_references_are_counted_apart_and_without_order() {
    let secrets = counting();
    assert!(secrets.refresh_after_refusal(&[env("A"), env("B")]));
    assert!(!secrets.refresh_after_refusal(&[env("B"), env("A")]));
    assert!(secrets.refresh_after_refusal(&[env("B")]));
    assert!(!secrets.refresh_after_refusal(&[]));
}

#[tokio::test(start_paused = true)]
async fn a_refusal_does_not_take_a_value_away_that_cannot_be_read_now() {
    let (place, secrets) = written(b"good");
    let reference = file(place.path());
    value(&secrets, &reference).await.unwrap();
    std::fs::remove_file(place.path()).unwrap();
    assert!(secrets.refresh_after_refusal(std::slice::from_ref(&reference)));
    assert_eq!(value(&secrets, &reference).await.unwrap(), "good");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_burst_causes_one_reading() {
    let (started, read) = (Arc::new(AtomicUsize::new(0)), AtomicUsize::new(0));
    let all_started = Arc::clone(&started);
    let secrets = Secrets::new(move |name| {
        // Reading lasts until every task of the burst is under way.
        while all_started.load(Ordering::SeqCst) < 4 {
            std::thread::yield_now();
        }
        Some(format!(
            "{name}-{}",
            read.fetch_add(1, Ordering::SeqCst) + 1
        ))
    });
    let readers = (0..4).map(|_| {
        let (secrets, started) = (secrets.clone(), Arc::clone(&started));
        tokio::spawn(async move {
            started.fetch_add(1, Ordering::SeqCst);
            value(&secrets, &env("A")).await.unwrap()
        })
    });
    for reader in readers.collect::<Vec<_>>() {
        assert_eq!(reader.await.unwrap(), "A-1");
    }
}

#[tokio::test]
async fn no_value_shows_in_debug() {
    let secrets = Secrets::new(|_| Some("hunter2".to_owned()));
    let values = secrets.resolve(&[env("A")]).await.unwrap();
    let shown = format!("{secrets:?} {values:?}");
    assert!(!shown.contains("hunter2"), "{shown}");
}
