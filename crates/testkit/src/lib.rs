//! What tests share: the hostile `scripted-server` (a binary of this crate), finding it, waiting with a
//! deadline, and looking at processes. With the feature `app`, the whole host over a temporary folder.

#[cfg(feature = "app")]
pub mod app;
pub mod binaries;
pub mod deadline;
pub mod processes;
