//! Which crate may know which: the list in `deny.toml` is held against what Cargo resolved. `make deny` checks
//! the same and more, and has to be installed first; this runs with every test.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::Command;

use serde_json::Value;

fn said(command: &mut Command) -> String {
    let output = command.output().unwrap();
    let complaint = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{complaint}");
    String::from_utf8(output.stdout).unwrap()
}

/// The platform that all this was built on.
fn host() -> String {
    let version = said(Command::new("rustc").arg("-vV"));
    let host = version.lines().find_map(|line| line.strip_prefix("host: "));
    host.unwrap().to_owned()
}

/// Every package, by name, with the names of those that depend on it directly.
fn dependents(root: &Path) -> BTreeMap<String, BTreeSet<String>> {
    let metadata = said(
        Command::new(env!("CARGO"))
            .args(["metadata", "--format-version=1", "--offline", "--locked"])
            // What other platforms would need has not been fetched.
            .args(["--filter-platform", &host(), "--manifest-path"])
            .arg(root.join("Cargo.toml")),
    );
    let metadata: Value = serde_json::from_str(&metadata).unwrap();
    let packages = metadata["packages"].as_array().unwrap();
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let names: BTreeMap<String, String> = packages
        .iter()
        .map(|package| (text(&package["id"]), text(&package["name"])))
        .collect();
    let mut dependents: BTreeMap<String, BTreeSet<String>> = names
        .values()
        .map(|name| (name.clone(), BTreeSet::new()))
        .collect();
    for node in metadata["resolve"]["nodes"].as_array().unwrap() {
        let by = &names[node["id"].as_str().unwrap()];
        for dependency in node["dependencies"].as_array().unwrap() {
            let of = &names[dependency.as_str().unwrap()];
            dependents.get_mut(of).unwrap().insert(by.clone());
        }
    }
    dependents
}

#[test]
fn no_crate_knows_what_it_must_not() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let text = std::fs::read_to_string(root.join("deny.toml")).unwrap();
    let rules: toml::Table = text.parse().unwrap();
    let dependents = dependents(root);
    let mut wrong = Vec::new();
    let denied = rules["bans"]["deny"].as_array().unwrap();
    assert!(denied.len() > 10, "the list is read");
    for rule in denied {
        let name = rule["crate"].as_str().unwrap();
        let wrappers = rule.get("wrappers").and_then(toml::Value::as_array);
        let allowed: BTreeSet<&str> = wrappers
            .into_iter()
            .flatten()
            .filter_map(toml::Value::as_str)
            .collect();
        let Some(found) = dependents.get(name) else {
            // Banned altogether, and not there. A crate that some may know must be there.
            if !allowed.is_empty() {
                wrong.push(format!("{name} is on the list, and nothing knows it"));
            }
            continue;
        };
        let strangers = found.iter().filter(|by| !allowed.contains(by.as_str()));
        wrong.extend(strangers.map(|by| format!("{by} depends on {name}")));
        let needless = allowed.iter().filter(|by| !found.contains(**by));
        wrong.extend(needless.map(|by| format!("{by} may depend on {name}, and does not")));
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// Every crate of ours that is a function, or that speaks to the table or to destinations, is on the list.
#[test]
fn every_function_is_on_the_list() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let text = std::fs::read_to_string(root.join("deny.toml")).unwrap();
    for function in std::fs::read_dir(root.join("functions")).unwrap() {
        let name = function.unwrap().file_name();
        let named = format!("crate = \"ackbox-{}\"", name.to_string_lossy());
        // What all functions share may be known by all.
        let is_shared = name == "edge";
        assert!(is_shared || text.contains(&named), "{named}");
    }
}
