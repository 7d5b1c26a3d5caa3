//! Tests of real servers by each way of installation: a package of npm, one of PyPI, a bundle, and a remote. From the
//! registry's entry or the file to a tool's result, by the command line, in a separate home. Each way prints the
//! duration of its steps.
//!
//! npx and uvx download the packages that they start, so these tests need a network, as does the installation of the
//! other servers. The registry's entries specify the date of the dependencies, so that they are the same in each run.

mod bundle;
mod packages;
mod remote;
mod sandboxed;
mod user;
