//! Remote servers on real sockets: every transport and revision, and what a server may do wrong.
#![allow(clippy::unwrap_used, clippy::expect_used, missing_docs, unreachable_pub)]

mod bounds;
mod connections;
mod detection;
mod legacy;
mod listening;
mod modern;
mod outside;
mod posts;
mod redirects;
mod resuming;
mod sessions;
mod signing;
mod support;
