//! Implementation of the API commands on a host.

mod apps;
mod arguments;
mod audit;
mod catalogs;
mod chat;
mod commands;
mod computer;
mod consent_requests;
mod containment;
mod conversations;
mod errors;
mod import;
mod installs;
mod media;
mod newer_versions;
mod providers;
mod review;
mod rules;
mod server_setup;
mod servers;
mod serving;
mod skills;
mod views;

pub(crate) use arguments::parse_consent_request_id;
use arguments::{require_json_object, saved_file_view, to_paths};
pub use audit::audit_verdict_view as audit_verdict;
pub(crate) use conversations::conversation_summaries;
pub use serving::Api;
pub(crate) use views::event_view;
