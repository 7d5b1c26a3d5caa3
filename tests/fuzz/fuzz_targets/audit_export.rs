//! Target of libFuzzer for [`fuzz_targets::audit_export`].
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| fuzz_targets::audit_export(data));
