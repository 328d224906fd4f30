//! See `ackbox_hostile::stream`.
#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| ackbox_hostile::stream::run(input));
