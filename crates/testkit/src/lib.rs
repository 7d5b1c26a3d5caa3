//! What tests share: the hostile `scripted-server` (a binary of this crate), finding it, waiting with a
//! deadline, and looking at processes.

pub #[cfg(feature = "app")]
pub mod app;
mod binaries;
pub mod deadline;
pub mod processes;
