//! Fuzz targets: a function for each parser of untrusted bytes. It accepts arbitrary bytes and panics if a property
//! does not hold.
//!
//! Called by `tests/replay.rs`, which runs the committed corpora and a bounded number of mutations on stable Rust, and
//! by the libFuzzer programs in `tests/fuzz/fuzz_targets`, which run on nightly without end. `cargo xtask fuzz` starts
//! both.
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod app_settings;
mod audit_export;
mod audit_log;
mod content;
mod conversation;
mod form;
mod log_fixture;
mod mcp_json;
mod message;
mod oauth;
mod pasted;
mod policy_file;
mod registry_page;
mod scratch;
mod settings_fixture;
mod sse;

pub use app_settings::app_settings;
pub use audit_export::audit_export;
pub use audit_log::audit_log;
pub use content::content;
pub use conversation::conversation;
pub use form::form;
pub use mcp_json::mcp_json;
pub use message::message;
pub use oauth::{challenge, metadata};
pub use pasted::pasted;
pub use policy_file::policy;
pub use registry_page::registry_page;
pub use sse::sse;

/// Fuzz target: a parser of untrusted bytes, with the requirements that it has to meet for every input.
#[derive(Debug, Clone, Copy)]
pub struct FuzzTarget {
    /// Name of the target, which is also the folder name of its corpus.
    pub name: &'static str,
    /// Function that passes one input to the parser, and panics if a requirement is not met.
    pub run: fn(&[u8]),
}

/// All fuzz targets, in the order in which they run.
pub const FUZZ_TARGETS: [FuzzTarget; 14] = [
    FuzzTarget { name: "message", run: message },
    FuzzTarget { name: "sse", run: sse },
    FuzzTarget { name: "content", run: content },
    FuzzTarget { name: "form", run: form },
    FuzzTarget { name: "mcp_json", run: mcp_json },
    FuzzTarget { name: "pasted", run: pasted },
    FuzzTarget { name: "registry_page", run: registry_page },
    FuzzTarget { name: "app_settings", run: app_settings },
    FuzzTarget { name: "policy", run: policy },
    FuzzTarget { name: "audit_log", run: audit_log },
    FuzzTarget { name: "audit_export", run: audit_export },
    FuzzTarget { name: "challenge", run: challenge },
    FuzzTarget { name: "metadata", run: metadata },
    FuzzTarget { name: "conversation", run: conversation },
];

/// Splits an input at its first line end, which is in neither part.
fn split_at_line_end(data: &[u8]) -> (&[u8], &[u8]) {
    match data.iter().position(|byte| *byte == b'\n') {
        Some(at) => (&data[..at], &data[at + 1..]),
        None => (data, &[]),
    }
}
