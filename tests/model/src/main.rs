//! draft
use ackbox_model::{Bounds, Destination, Guards, Protocol, explore, shortest_violation};
use std::io::Write as _;
fn main() {
    let mut out = std::io::stdout().lock();
    let a: Vec<u8> = std::env::args()
        .skip(1)
        .map(|x| x.parse().unwrap_or(0))
        .collect();
    for d in [
        Destination::None,
        Destination::WindowRetry,
        Destination::WindowHold,
    ] {
        let mut b = Bounds::full(d);
        b.dispatchers = a[0] as usize;
        b.crashes = a[1];
        b.records = a[2];
        b.operator_acts = a[3];
        if a.len() > 4 && a[4] != d as u8 {
            continue;
        }
        let m = Protocol::new(b, Guards::ALL);
        let e = explore(m, 2);
        let _ = writeln!(
            out,
            "{d:?} {} {} {} {:?} {}",
            e.states,
            e.unique,
            e.depth,
            e.took,
            e.is_clean()
        );
        if !e.is_clean() {
            if let Some((b, s)) = shortest_violation(m) {
                let _ = writeln!(out, "{b:?}\n{s}");
            }
        }
    }
}
