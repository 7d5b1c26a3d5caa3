//! Tests of rules: their syntax, what they match, and their limits.
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod limits;
mod other_inputs;
mod properties;
mod respelled;
mod sampling_budget;
mod spellings;
mod support;
mod written;
