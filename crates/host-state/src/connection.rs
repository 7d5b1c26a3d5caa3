//! Parts of a connection's state that need no connection: waiting callers, the schedule of its reports, and the redaction
//! of its errors. Used by `host/src/connection`.

mod pending_refreshes;
mod redaction;
mod tick_timer;

pub use pending_refreshes::PendingRefreshes;
pub use redaction::{redact_error, redact_failure};
pub use tick_timer::{TICK_INTERVAL, TickTimer};
