//! Target of libFuzzer for [`fuzz_targets::registry_page`].
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| fuzz_targets::registry_page(data));
