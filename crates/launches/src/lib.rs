//! The start of a local server, before anything runs: the package that its command loads, the sandbox around it, and the hash that an
//! approval rests on.
//!
//! - [`packages`]: the package that a launcher such as `npx` loads, and the version that would run
//! - [`sandbox`] and [`home`]: the files that a server in a sandbox must not reach, and the home that it has of its own
//! - [`approvals`] and [`parts`]: the hash over everything that decides what runs, and the same in words
//! - [`files_now`](mod@files_now): the files of a command, looked at again within a time limit
//!
//! Callers: the owner of `host`, which asks the user and starts servers; `api` shows packages.

pub mod approvals;
pub mod files_now;
pub mod home;
pub mod packages;
pub mod parts;
pub mod sandbox;

pub use process::default_directory;
