//! See `ackbox_hostile::observe`.
#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| ackbox_hostile::observe::run(input));
