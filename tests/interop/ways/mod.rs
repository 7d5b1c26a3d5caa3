//! Real servers by each way in which they are installed: a package of npm, one of PyPI, a bundle, and a remote. From the registry's entry or
//! the file on to an answer of a tool, by the command line, in a home of its own. Each way prints how long its steps took.
//!
//! npx and uvx load what they start, so these tests need a network, as what installs the other servers does. The registry's entries name the
//! day that dependencies are taken of, so that they are the same ones each time.

mod bundle;
mod packages;
mod remote;
mod sandboxed;
mod user;
