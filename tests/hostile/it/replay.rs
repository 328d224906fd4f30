//! Every seed and every input that once broke something is taken by its target; the committed seeds
//! are the ones that the vectors make.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use ackbox_hostile::{TARGETS, seeds};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz")
}

/// The files of one folder, by name. None where it is not there.
fn files(folder: &Path) -> Vec<(String, Vec<u8>)> {
    let Ok(entries) = fs::read_dir(folder) else {
        return Vec::new();
    };
    let mut files: Vec<_> = entries
        .map(|entry| entry.unwrap())
        .map(|entry| {
            let name = entry.file_name().into_string().unwrap();
            (name, fs::read(entry.path()).unwrap())
        })
        .collect();
    files.sort();
    files
}

#[test]
fn every_seed_and_every_input_that_once_broke_something_holds() {
    for target in TARGETS {
        let seeds = files(&folder().join("seeds").join(target.name));
        assert!(
            seeds.len() >= 8,
            "{} has {} seeds",
            target.name,
            seeds.len()
        );
        let broken = files(&folder().join("regressions").join(target.name));
        for (name, input) in seeds.iter().chain(&broken) {
            println!("{} {name}", target.name);
            (target.run)(input);
        }
    }
}

/// At ten places of each, a bit turned and the rest cut off: a little of what the fuzzer does, without it.
#[test]
fn every_seed_holds_with_a_bit_turned_and_with_its_end_cut_off() {
    for target in TARGETS {
        for (name, input) in files(&folder().join("seeds").join(target.name)) {
            println!("{} {name}", target.name);
            let step = input.len() / 10 + 1;
            for at in (0..input.len()).step_by(step) {
                let mut changed = input.clone();
                changed[at] ^= 1 << (at % 8);
                (target.run)(&changed);
                (target.run)(&input[..at]);
            }
        }
    }
}

#[test]
fn no_bytes_at_all_and_bytes_that_mean_nothing_are_taken() {
    for target in TARGETS {
        for input in [
            &b""[..],
            b"\n",
            b"\n\n\n\n",
            b"\0",
            b"\xff\xfe",
            b"{}",
            b"[]",
            b"null",
            b"=",
        ] {
            (target.run)(input);
        }
    }
}

#[test]
fn the_committed_seeds_are_what_the_vectors_make() {
    let made = seeds::make().unwrap();
    let targets: BTreeSet<&str> = TARGETS.iter().map(|target| target.name).collect();
    let seeded: BTreeSet<&str> = made.iter().map(|seed| seed.target).collect();
    assert_eq!(seeded, targets);
    for target in TARGETS {
        let made: Vec<_> = made
            .iter()
            .filter(|seed| seed.target == target.name)
            .map(|seed| (seed.name.clone(), seed.bytes.clone()))
            .collect();
        let committed = files(&folder().join("seeds").join(target.name));
        assert!(
            made == committed,
            "fuzz/seeds/{} is not what the vectors make: run `cargo run -p ackbox-hostile --bin seeds`",
            target.name
        );
    }
}

/// The fuzz workspace has one binary for each target, and no other.
#[test]
fn every_target_has_its_fuzz_target() {
    let binaries: BTreeSet<String> = files(&folder().join("fuzz_targets"))
        .into_iter()
        .map(|(name, _)| name.trim_end_matches(".rs").to_owned())
        .collect();
    let targets: BTreeSet<String> = TARGETS
        .iter()
        .map(|target| target.name.to_owned())
        .collect();
    assert_eq!(binaries, targets);
}
