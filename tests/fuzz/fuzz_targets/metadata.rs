//! Target of libFuzzer for [`fuzz_targets::metadata`].
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| fuzz_targets::metadata(data));
