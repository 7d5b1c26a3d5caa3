//! Code shared by the measured clients: the scenarios, their requests, and the line that each client prints.

pub mod drawbridge;
pub mod report;
pub mod request;
pub mod rules;
pub mod scenario;
