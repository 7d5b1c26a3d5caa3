//! Prepares the start of a local server, before anything runs: the package that its command loads, the sandbox around
//! it, and the hash that an approval covers. Also describes the addresses of remote servers, as texts of approvals and
//! as pinned parts.
//!
//! - [`packages`]: the package that a launcher such as `npx` loads, and the version that would run
//! - [`sandbox`] and [`home`]: the files hidden from a sandboxed server, and its private home directory
//! - [`approvals`] and [`pinned_parts`]: the hash over everything that decides what runs, and the readable
//!   texts and parts of commands and addresses
//! - [`current_files`]: reads the state of a command's files within a time limit
//!
//! Used by the owner in `host`, which requests consent and starts servers. The crate `api` sends packages to the page.

pub mod approvals;
pub mod current_files;
pub mod home;
pub mod packages;
pub mod pinned_parts;
pub mod sandbox;
pub mod sandbox_proposal;
