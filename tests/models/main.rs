//! Our providers of models against a fake one that is not ours (npm `@copilotkit/aimock`), on every wire.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test says what it wanted where it fails")]

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
