//! Install plans: descriptions of servers by others, with inputs that the user fills in. `registry` and `bundles`
//! create plans from what they read; `api` and `cli` show them, and `host::ServerSetup` adds the resulting server.
//! Nothing in this crate reads, writes or starts anything.
//!
//! - [`InstallPlan`]: the command or address as a template, and its inputs
//! - [`InstallPlan::fill`]: computes the settings from the user's values
//! - [`InstallPlan::values_kept_from`] and [`InstallPlan::fill_for_upgrade`]: the same for a server that
//!   replaces its older version
//!
//! All text of a plan is untrusted. Values are substituted once and never expanded again, so that a value can't refer
//! to another input.

mod bundle_signature;
mod input;
mod manifest_warning;
mod note;
mod plan_values;
mod template;
mod values_kept_in_upgrade;

pub use bundle_signature::BundleSignature;
pub use input::{InputKind, InputValues, MAX_ENTERED_VALUE_BYTES, MAX_PLAN_INPUTS, PlanInput};
pub use manifest_warning::{ManifestValueType, ManifestWarning};
pub use note::{InstallNote, PlanPlace};
pub use plan_values::{FillError, InputProblem};
pub use template::{ArgumentGroupTemplate, Template, TemplatePart};
pub use values_kept_in_upgrade::ValuesKeptInUpgrade;

use std::collections::BTreeMap;

use ports::server_config::HttpKind;

/// A server to be installed, as a registry or a bundle describes it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InstallPlan {
    /// Proposed name of the server. Valid, but not necessarily unique, which is checked when the server is added.
    pub name: String,
    /// Command or URL of the server, as a template.
    pub target: PlannedTransport,
    /// Inputs that the user fills in, in the order of the publisher's description, at most [`MAX_PLAN_INPUTS`].
    pub inputs: Vec<PlanInput>,
    /// Notes for the user, such as that a version is not pinned, or that a part of the publisher's description is
    /// ignored.
    pub notes: Vec<InstallNote>,
}

/// Command or URL of a planned server, as templates.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PlannedTransport {
    /// A local server, which is started with this command.
    Command {
        /// Program that the command runs. It never depends on an input.
        command: String,
        /// Arguments of the command, in order.
        args: Vec<ArgumentGroupTemplate>,
        /// Environment variables of the server's process, by name.
        env: BTreeMap<String, Template>,
    },
    /// A remote server, to which Drawbridge connects.
    Remote {
        /// URL of the server's MCP endpoint.
        url: Template,
        /// HTTP transport of the server.
        kind: HttpKind,
        /// Headers that are sent with each request, by name.
        headers: BTreeMap<String, Template>,
    },
}
