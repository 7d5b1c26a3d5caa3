//! The demo server as a host meets it: JSON lines over pipes, in both eras.
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod host;
mod legacy;
mod modern;
