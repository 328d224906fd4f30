//! placeholder
use super::*;
#[test]
fn example() {
    match read("ackbox.toml", include_str!("../../../../ackbox.toml")) {
        Ok(c) => {
            for w in &c.warnings {
                println!("{w}");
            }
            println!("{:#?}", c.sources.keys());
        }
        Err(e) => panic!("{e}"),
    }
}
#[test]
fn play() {
    let t = std::fs::read_to_string("/tmp/cfg.toml").unwrap_or_default();
    match read("ackbox.toml", &t) {
        Ok(c) => {
            for w in &c.warnings {
                println!("W {w}");
            }
        }
        Err(e) => println!("{e}"),
    }
}
