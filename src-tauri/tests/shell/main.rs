//! Tests of what pages may do: the permitted commands and the security settings.
#![allow(clippy::unwrap_used, clippy::expect_used, missing_docs)]

mod acl;
mod configuration;
