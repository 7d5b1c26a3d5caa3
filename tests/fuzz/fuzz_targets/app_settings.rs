//! Target of libFuzzer for [`fuzz_targets::app_settings`].
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| fuzz_targets::app_settings(data));
