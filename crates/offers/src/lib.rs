//! What a server offers: its tools, prompts, resources and skills, read within bounds, and what a user should see before any of
//! it is used.
//!
//! - [`catalog`]: the lists, read page by page. Caller: the connections of `host`
//! - [`definitions`]: hashes of tools that were called. Caller: the owner of `host`
//! - [`reads`]: contents of resources, for as long as their server lets them be kept. Caller: the owner of `host`
//! - [`review`]: pins, differences, look-alikes, and flags on text that may mislead a model; how text is shown. Callers: `host`,
//!   `chat`, `cli`, and the views of `api`
//! - [`skills`]: entries and files of skills. Caller: `host/src/skills.rs`, which asks servers for them
//! - [`template`] and [`output`]: URI templates, and structured results beside their schema. Callers: `api` and `chat`
//!
//! Nothing here sends anything or writes to a disk: the host decides what is asked, and stores pins.

pub mod catalog;
pub mod definitions;
pub mod output;
pub mod reads;
pub mod review;
pub mod skills;
pub mod template;
