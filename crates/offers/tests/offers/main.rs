//! Tests of what servers offer: structured results and URI templates.
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod output;
mod templates;
