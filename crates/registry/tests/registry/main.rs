//! Tests of registries: their responses, the catalog, plans, and newer versions.
#![allow(clippy::unwrap_used)]

mod catalog;
mod newer;
mod plan;
mod server_json;
