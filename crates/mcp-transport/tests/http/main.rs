//! Tests of remote servers over real sockets: every transport and revision, and faulty servers.
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
