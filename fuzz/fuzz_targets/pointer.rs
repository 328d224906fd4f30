//! See `ackbox_hostile::pointer`.
#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| ackbox_hostile::pointer::run(input));
