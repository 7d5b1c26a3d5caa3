//! Install plans: descriptions of servers by others, with inputs that the user fills in. `registry` and `bundles`
//! create plans from what they read; `api` and `cli` show them, and `host::Setup` adds the resulting server. Nothing
//! in this crate reads, writes or starts anything.
//!
//! - [`InstallPlan`]: the command or address as a template, and its inputs
//! - [`InstallPlan::fill`]: computes the settings from the user's values
//! - [`InstallPlan::carry_values_from`] and [`InstallPlan::fill_with_carried`]: the same for a server that replaces its older
//!   version
//!
//! All text of a plan is untrusted. Values are substituted once and never expanded again, so that a value can't refer
//! to another input.

mod carried_values;
mod input;
mod plan_values;
mod template;

pub use carried_values::CarriedValues;
pub use input::{InputKind, InputValues, MAX_INPUTS, MAX_VALUE, PlanInput};
pub use plan_values::{FillError, InputProblem};
pub use template::{Template, TemplateArgument, TemplatePart};

use std::collections::BTreeMap;

use ports::server_config::HttpKind;

/// A server as described by a registry or a bundle.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InstallPlan {
    /// Proposed name of the server. The parser of the description makes it valid; uniqueness is checked when the
    /// server is set up.
    pub name: String,
    /// Command or address of the server.
    pub target: PlanTarget,
    /// Inputs that the user fills in, in the order of the description. At most [`MAX_INPUTS`].
    pub inputs: Vec<PlanInput>,
    /// Warnings as full sentences, safe to print: what is not pinned, and what is not used.
    pub notes: Vec<String>,
}

/// The command or address of a planned server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PlanTarget {
    /// A local program to start.
    Command {
        /// Program, which no input changes.
        command: String,
        /// Arguments of the command, in order.
        args: Vec<TemplateArgument>,
        /// Environment variables of the process, by name.
        env: BTreeMap<String, Template>,
    },
    /// A remote server to connect to.
    Remote {
        /// URL of the server's endpoint.
        url: Template,
        /// HTTP transport of the server.
        kind: HttpKind,
        /// Headers of each request.
        headers: BTreeMap<String, Template>,
    },
}
