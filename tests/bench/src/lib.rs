//! What the measured clients share: the scenarios, their requests, and the line that each client prints.

pub mod drawbridge;
pub mod report;
pub mod request;
pub mod rules;
pub mod scenario;
