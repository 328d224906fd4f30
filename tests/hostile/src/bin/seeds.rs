//! Writes the fuzzer's seeds anew, from the providers' vectors: `cargo run -p ackbox-hostile --bin seeds`.

use std::path::Path;
use std::{fs, io};

use ackbox_hostile::{TARGETS, seeds};

fn main() -> io::Result<()> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/seeds");
    for target in TARGETS {
        let folder = folder.join(target.name);
        if folder.exists() {
            fs::remove_dir_all(&folder)?;
        }
        fs::create_dir_all(&folder)?;
    }
    for seed in seeds::make()? {
        fs::write(folder.join(seed.target).join(&seed.name), &seed.bytes)?;
    }
    Ok(())
}
