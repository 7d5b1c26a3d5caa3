//! State and limits of each running server: its activity log, its resource usage, and its restarts.
//!
//! - [`activity`]: a bounded log of messages without secrets. Used by the connections and the owner in `host`, and by
//!   the activity page of `api`.
//! - [`limits`]: the limits of each server, and their valid ranges. Used by `host` and the settings page of `api`.
//! - [`usage_counter`]: counts a run's usage against the limits. Used by the connections of `host`.
//! - [`token_bucket`]: a token bucket. Used by [`usage_counter`], and for limiting the rate of consent requests.
//! - [`request_quota`]: limits the requests that a server may send. Used by the connections of `host`.
//! - [`backoff`]: delays before a server that has ended is restarted. Used by the owner in `host`.
//! - [`wake`]: detects that the computer slept or changed its network address. Used by `host`, which then checks remote
//!   servers.
//!
//! This crate doesn't start or stop servers: the owner in `host` does.

pub mod activity;
pub mod backoff;
pub mod limits;
pub mod request_quota;
pub mod token_bucket;
pub mod usage_counter;
pub mod wake;
