//! Target of libFuzzer for [`fuzz_targets::pasted`].
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| fuzz_targets::pasted(data));
