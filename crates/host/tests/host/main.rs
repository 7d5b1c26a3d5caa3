//! Tests of pure functions of the host, and of the host with servers that follow the protocol.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::type_complexity, missing_docs)]

mod activity;
mod app_calls;
mod app_sampling;
mod app_tools;
mod asks_each_time;
mod audit;
mod audit_retention;
mod contained_start;
mod data_flow;
mod delayed_audit_entry;
mod pressure;
mod providers;
mod read_only_tools;
mod remote;
mod restored;
mod restored_rules;
mod review;
mod revoked_starts;
mod roots;
mod rules;
mod sampling;
mod served;
mod shown_hashes;
mod sign_in;
mod supervision;
mod turned_off;
mod urls;
