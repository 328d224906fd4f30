//! See `ackbox_hostile::verify`.
#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| ackbox_hostile::verify::run(input));
