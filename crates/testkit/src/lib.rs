//! What tests share: the hostile `scripted-server` (a binary of this crate), finding it, waiting with a
//! deadline, looking at processes, an address that nobody may fetch, an HTTP server that a test scripts, a registry of servers, bundles, a proxy that spoils what passes, an
//! authorization server with an MCP server that asks for its tokens, and a browser to sign in with.
//! With the feature `app`, the whole host over a temporary folder; with `tls`, certificates and HTTP/2;
//! with `paused`, time that passes when a test says so.

#[cfg(feature = "app")]
pub mod app;
pub mod authorization;
pub mod binaries;
pub mod browser;
pub mod bundle_file;
#[cfg(feature = "app")]
pub mod calls;
pub mod deadline;
pub mod http;
#[cfg(feature = "tls")]
pub mod http2;
pub mod import;
pub mod lure;
#[cfg(feature = "app")]
pub mod model;
pub mod processes;
pub mod proxy;
pub mod registry;
#[cfg(any(feature = "app", feature = "paused"))]
pub mod time;
#[cfg(feature = "tls")]
pub mod tls;
