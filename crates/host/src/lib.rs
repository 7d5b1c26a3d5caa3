//! The host: it knows the servers, runs a session for each, asks the policy, keeps the queue of questions, and routes what
//! servers ask for. Everything outside it comes through [`ports`].

pub mod conversation;
pub mod ports;
pub mod server_config;
