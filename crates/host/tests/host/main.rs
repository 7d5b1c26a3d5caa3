//! The host's pure parts: forms, URLs, templates, activity.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::type_complexity, missing_docs)]

mod activity;
mod forms;
mod templates;
mod urls;
