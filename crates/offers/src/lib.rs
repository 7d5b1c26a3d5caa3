//! Reads the tools, prompts, resources and skills of servers within bounds, and computes review warnings and other
//! information for the user before they are used.
//!
//! - [`catalog`]: lists, read page by page. Used by the connections of `host`.
//! - [`definitions`]: hashes of the definitions of called tools. Used by the owner in `host`.
//! - [`resource_cache`]: a cache of resource contents that respects the server's cache hints. Used by the owner in
//!   `host`.
//! - [`review`]: pins, diffs, similar names, flags on text that may mislead a model, and safe display of text. Used by
//!   `host`, `chat`, `cli`, and the views of `api`.
//! - [`skills`]: skill entries and their files. Used by `chat/src/skills.rs`, which requests them from servers.
//! - [`uri_template`] and [`output_schema`]: URI templates, and validation of structured results against their schema.
//!   Used by `api` and `chat`.
//!
//! This crate neither sends requests nor writes to disk: the host decides which requests are sent, and stores the pins.

pub mod catalog;
pub mod definitions;
pub mod output_schema;
pub mod resource_cache;
pub mod review;
pub mod skills;
pub mod uri_template;
