//! Tests of real servers by each way of installation: a package from npm, one from PyPI, a bundle, and a remote. Each
//! test covers all steps from the registry entry or file to a tool result, with the command line and a separate home
//! folder, and prints their durations.
//!
//! npx and uvx download packages, so these tests require a network connection, as does the installation of the other
//! servers. The registry entries contain a date that selects the versions of dependencies, so that they are the same in
//! each run.

mod bundle;
mod packages;
mod remote;
mod sandboxed;
mod user;
