//! What the measured clients share: the scenarios, and the line each of them prints.

pub mod report;
pub mod scenario;
