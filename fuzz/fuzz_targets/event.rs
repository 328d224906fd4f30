//! See `ackbox_hostile::event`.
#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| ackbox_hostile::event::run(input));
