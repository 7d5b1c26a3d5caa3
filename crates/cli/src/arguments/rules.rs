//! Arguments of the commands for rules, data flow, and the audit log.

use std::path::PathBuf;

use api::data::DryRunAct;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{Args, Subcommand, ValueEnum};
use serde_json::json;

/// Arguments of the `flow` command.
#[derive(Debug, Args)]
pub(crate) struct DataFlowArguments {
    /// Name of the server in the settings.
    pub(crate) server: String,
    /// Results of this server's tools that you review before a model reads them.
    #[arg(long, value_enum, value_name = "WHEN")]
    pub(crate) review: Option<ResultReviewName>,
    /// Apply --review only to this tool.
    #[arg(long, value_name = "NAME", requires = "review")]
    pub(crate) tool: Option<String>,
    /// Content of this server that, after a model has read it, makes the model's calls of the same server require
    /// approval.
    #[arg(long, value_enum, value_name = "WHAT")]
    pub(crate) same_server: Option<SameServerFlowName>,
}

/// Results that the user reviews before a model reads them, as named on the command line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ResultReviewName {
    /// No results are reviewed.
    Off,
    /// Results with hidden characters, instructions to the model, or misleading links are reviewed.
    Suspicious,
    /// All results are reviewed.
    Always,
    /// For a single tool: the setting of its server applies.
    Server,
}

/// Content of a server that, after a model has read it, makes the model's calls of the same server require approval.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum SameServerFlowName {
    /// Content that third parties may have written.
    OpenWorld,
    /// Any content of the server.
    Everything,
    /// No content, so that calls never require approval because of it.
    Off,
}

/// Subcommands of the `policy` command.
#[derive(Debug, Subcommand)]
pub(crate) enum PolicyCommand {
    /// Shows the preset, the policy files, and every rule.
    Show,
    /// Shows if a call would be allowed, denied or require approval, and the rule that decides. Nothing is started or
    /// sent.
    Check {
        /// Name of the server in the settings.
        server: String,
        /// Name of the tool, as the server lists it.
        #[arg(conflicts_with = "act")]
        tool: Option<String>,
        /// Arguments that would be sent: a JSON object.
        #[arg(value_name = "JSON", default_value = "{}")]
        args: String,
        /// Check this kind of operation instead of a tool call.
        #[arg(long, value_parser = dry_run_act_parser())]
        act: Option<DryRunAct>,
        /// Assume that the call is made by a model that has read another server's output.
        #[arg(long)]
        after_untrusted: bool,
    },
    /// Prints all rules and grants as JSON.
    Export,
}

/// Operations other than tool calls that `policy check` can check, each with its name on the command line.
const DRY_RUN_ACT_NAMES: [(&str, &str); 7] = [
    ("read", "To get a prompt or read a resource"),
    ("start", "To start the server or connect to it"),
    ("sampling", "The server asks a model"),
    ("form", "The server asks for a form"),
    ("url", "The server asks to open an address"),
    ("roots", "The server asks for folders"),
    ("sign-in", "To sign in to the server"),
];

fn dry_run_act_parser() -> impl TypedValueParser<Value = DryRunAct> {
    let names = DRY_RUN_ACT_NAMES.map(|(name, help)| PossibleValue::new(name).help(help));
    let named = |name: String| serde_json::from_value::<DryRunAct>(json!({ "kind": name.replace('-', "_") }));
    PossibleValuesParser::new(names).try_map(named)
}

/// Arguments of the `audit` command.
#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct AuditArguments {
    #[command(subcommand)]
    pub(crate) command: Option<AuditCommand>,
    #[command(flatten)]
    pub(crate) list: AuditFilter,
}

/// Subcommands of the `audit` command.
#[derive(Debug, Subcommand)]
pub(crate) enum AuditCommand {
    /// Lists the decisions, newest first.
    List(AuditFilter),
    /// Verifies that no decision was changed, removed or moved, and reports where one was. Exits with 1 if so.
    Verify {
        /// File that `export` wrote, to verify instead of the audit log.
        file: Option<PathBuf>,
    },
    /// Prints all decisions as JSON Lines, which `verify` can verify without the audit log.
    Export {
        /// File to write, which must not exist. Defaults to standard output.
        file: Option<PathBuf>,
    },
}

/// Filter for the decisions to list.
#[derive(Debug, Args)]
pub(crate) struct AuditFilter {
    /// Maximum number of decisions to list.
    #[arg(long, default_value_t = 1_000)]
    pub(crate) limit: usize,
    /// Only show decisions about this server.
    #[arg(long, value_name = "NAME")]
    pub(crate) server: Option<String>,
    /// Only show decisions on this kind of consent request, such as tool or start-server.
    #[arg(long, value_name = "KIND")]
    pub(crate) kind: Option<String>,
    /// Only show entries with this decision: allowed, denied, cancelled, withdrawn or noted.
    #[arg(long, value_name = "DECISION")]
    pub(crate) decision: Option<String>,
    /// Only show decisions since this time: 2026-11-21, 2026-11-21T08:00:00Z, or an age such as 30m, 12h, 7d.
    #[arg(long, value_name = "TIME")]
    pub(crate) since: Option<String>,
    /// Only show decisions before this time, in the same formats.
    #[arg(long, value_name = "TIME")]
    pub(crate) until: Option<String>,
    /// Only show decisions that contain all of these words.
    #[arg(long, value_name = "WORDS")]
    pub(crate) search: Option<String>,
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use clap::Command;

    use super::*;

    #[test]
    fn every_dry_run_act_name_is_accepted() {
        for (name, _) in DRY_RUN_ACT_NAMES {
            assert!(dry_run_act_parser().parse_ref(&Command::new("check"), None, name.as_ref()).is_ok(), "{name}");
        }
        assert!(
            dry_run_act_parser().parse_ref(&Command::new("check"), None, "tool".as_ref()).is_err(),
            "a tool call is not a value of this option"
        );
    }
}
