//! See `ackbox_hostile::grammar`.
#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| ackbox_hostile::grammar::run(input));
