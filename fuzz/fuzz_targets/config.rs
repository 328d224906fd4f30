//! See `ackbox_hostile::config`.
#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| ackbox_hostile::config::run(input));
