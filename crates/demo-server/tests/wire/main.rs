//! Tests of the demo server as a host uses it: JSON lines over pipes, in stateful and stateless revisions.
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod host;
mod legacy;
mod modern;
