//! Helpers for tests: the program `scripted-server`, timeouts, information about processes, the commands of the user
//! guide, a forbidden URL that no client may fetch, a scripted HTTP server, a registry, bundles, a faulty proxy, an
//! authorization server with an MCP server that requires its tokens, and a minimal browser for signing in.
//!
//! The feature `app` adds the complete host in a temporary folder, `tls` adds certificates and HTTP/2, and `paused`
//! adds simulated time.

#[cfg(feature = "app")]
pub mod app;
pub mod authorization;
pub mod binaries;
pub mod browser;
pub mod bundle_file;
#[cfg(feature = "app")]
pub mod calls;
pub mod deadline;
pub mod forbidden_url;
pub mod guide_examples;
pub mod http;
#[cfg(feature = "tls")]
pub mod http2;
pub mod import;
#[cfg(feature = "app")]
pub mod model;
pub mod processes;
pub mod proxy;
pub mod registry;
#[cfg(any(feature = "app", feature = "paused"))]
pub mod time;
#[cfg(feature = "tls")]
pub mod tls;
