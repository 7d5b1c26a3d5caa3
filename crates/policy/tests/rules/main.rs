//! Rules: what they may say, what they fit, and what they can never do.
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod limits;
mod properties;
mod respelled;
mod spellings;
mod standing;
mod support;
mod written;
