//! What a running server does, and how much of it it may do, for each server by itself.
//!
//! - [`activity`]: the messages that passed, in a bounded ring without secrets. Callers: the connections and the owner of `host`,
//!   the activity page of `api`
//! - [`limits`]: how much each server gets, within which bounds. Callers: `host` and the settings page of `api`
//! - [`usage`]: counts what a run uses of it. Caller: the connections of `host`
//! - [`allowance`]: so much at once, and the same again in each span of time. Callers: [`usage`], and what bounds consent requests
//! - [`backoff`]: when a server that ended is started again. Caller: the owner of `host`
//!
//! - [`wake`]: notices that the computer slept or has another address. Caller: `host`, which then looks after remote servers
//!
//! Nothing here starts or stops a server: the owner of `host` does.

pub mod activity;
pub mod allowance;
pub mod backoff;
pub mod limits;
pub mod usage;
pub mod wake;
