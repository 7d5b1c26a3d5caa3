//! Target of libFuzzer for [`fuzz_targets::mcp_json`].
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| fuzz_targets::mcp_json(data));
