//! Target of libFuzzer for [`fuzz_targets::conversation`].
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| fuzz_targets::conversation(data));
