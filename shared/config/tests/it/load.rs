//! From the environment and the disk.

use std::error::Error;
use std::path::{Path, PathBuf};

use ackbox_config::{Config, LoadError};

fn located(set: &[(&str, &str)]) -> PathBuf {
    Config::locate(|name| {
        let found = set.iter().find(|(known, _)| *known == name);
        found.map(|(_, value)| (*value).to_owned())
    })
}

#[test]
fn the_file_is_named_by_the_environment_or_stands_where_it_is_expected() {
    let both = [
        ("ACKBOX_CONFIG", "/etc/a.toml"),
        ("LAMBDA_TASK_ROOT", "/var/task"),
    ];
    assert_eq!(located(&both), Path::new("/etc/a.toml"));
    assert_eq!(located(&both[1..]), Path::new("/var/task/ackbox.toml"));
    assert_eq!(located(&[("ACKBOX_CONFIG", "")]), Path::new("ackbox.toml"));
    assert_eq!(located(&[]), Path::new("ackbox.toml"));
}

#[test]
fn a_file_is_loaded() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("ackbox.toml");
    std::fs::write(&path, crate::BASE).unwrap();
    let config = Config::load(&path).unwrap();
    assert!(config.sources.contains_key("reports"));
}

#[test]
fn a_file_that_cannot_be_read_is_named_with_the_way_out() {
    let error = Config::load(Path::new("no/such/ackbox.toml")).unwrap_err();
    assert_eq!(
        error.to_string(),
        "cannot read the configuration no/such/ackbox.toml; write one there, or name another by $ACKBOX_CONFIG"
    );
    assert!(error.source().is_some());
}

#[test]
fn bytes_that_are_no_text_are_placed() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("ackbox.toml");
    std::fs::write(&path, b"[delivery]\n# \xc3\xa4\xff").unwrap();
    let Err(LoadError::Mistakes(mistakes)) = Config::load(&path) else {
        panic!("the file was read");
    };
    let said = mistakes.to_string();
    assert!(
        said.ends_with("ackbox.toml:2:4: the file is not UTF-8 from here on; save it as UTF-8"),
        "{said}"
    );
}
