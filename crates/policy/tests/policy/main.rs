//! Tests of the policy: grants, rules, and decisions without rules.
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod grants;
mod repeated_calls;
mod rules;
mod support;
mod without_rules;
