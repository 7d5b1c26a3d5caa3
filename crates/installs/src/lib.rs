//! Servers that somebody else describes, with blanks that the user fills in. `registry` and `bundles` make plans of what they read; `api` and `cli`
//! show them, and `host::Setup` adds what results. Nothing here reads, writes or starts anything.
//!
//! - [`InstallPlan`]: the command or address as a template, and its inputs
//! - [`InstallPlan::fill`]: the settings that follow from the user's values
//! - [`InstallPlan::kept_from`] and [`InstallPlan::fill_keeping`]: the same for a server that takes the place of its older version
//!
//! All text of a plan comes from outside. Values are put in once and never looked at again, so that no value can name another input.

mod fill;
mod input;
mod keep;
mod template;

pub use fill::{FillError, InputProblem};
pub use input::{InputKind, InputValues, MAX_INPUTS, MAX_VALUE, PlanInput};
pub use keep::KeptValues;
pub use template::{Argument, Template, TemplatePart};

use std::collections::BTreeMap;

use ports::server_config::HttpKind;

/// A server as a registry or a bundle describes it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InstallPlan {
    /// The name it would get. The one who reads the description makes it usable; whether it is free is checked when it is set up.
    pub name: String,
    /// The command or the address.
    pub target: PlanTarget,
    /// What the user fills in, in the order of the description. At most [`MAX_INPUTS`].
    pub inputs: Vec<PlanInput>,
    /// What to look at, in sentences, safe to print: what is not pinned, what is not used.
    pub notes: Vec<String>,
}

/// How a planned server is reached.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PlanTarget {
    /// A local program.
    Command {
        /// The program; no input changes it.
        command: String,
        /// Its arguments.
        args: Vec<Argument>,
        /// Environment variables.
        env: BTreeMap<String, Template>,
    },
    /// A remote server.
    Remote {
        /// Its URL.
        url: Template,
        /// The transport.
        kind: HttpKind,
        /// Headers of each request.
        headers: BTreeMap<String, Template>,
    },
}
