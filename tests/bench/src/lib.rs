//! Code that the benchmark clients share: the scenarios, their requests, and the report that each client prints.

pub mod drawbridge;
pub mod report;
pub mod request;
pub mod rules;
pub mod scenario;
