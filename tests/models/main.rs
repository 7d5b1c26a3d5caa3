//! Tests of the model providers in every API, with a third-party fake (npm `@copilotkit/aimock`).

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a failed test panics")]

mod answers;
mod bounds;
mod fake;
mod faults;
mod keys;
mod local;
mod responses;
mod running;
mod scripted;
mod strict;
mod tools;
