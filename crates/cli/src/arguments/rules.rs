//! Arguments of the commands for rules, the flow of content, and the audit log.

use std::path::PathBuf;

use api::data::DryAct;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{Args, Subcommand, ValueEnum};
use serde_json::json;

/// How content of a server flows on.
#[derive(Debug, Args)]
pub(crate) struct Flow {
    /// The server.
    pub(crate) server: String,
    /// Which results of a model's calls you review before the model reads them.
    #[arg(long, value_enum, value_name = "WHEN")]
    pub(crate) review: Option<ReviewName>,
    /// Set that for this tool alone.
    #[arg(long, value_name = "NAME", requires = "review")]
    pub(crate) tool: Option<String>,
    /// After which content of this server a model's call of the same server asks.
    #[arg(long, value_enum, value_name = "WHAT")]
    pub(crate) same_server: Option<SameServerName>,
}

/// Which results are reviewed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ReviewName {
    /// None.
    Off,
    /// Those with hidden characters, instructions to the model, or links that mislead.
    Suspicious,
    /// All.
    Always,
    /// As set for the server; for a tool.
    Server,
}

/// After which content calls ask.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum SameServerName {
    /// After content that others may have written.
    OpenWorld,
    /// After anything that was read.
    Everything,
    /// After nothing.
    Off,
}

/// What to do with the rules.
#[derive(Debug, Subcommand)]
pub(crate) enum PolicyCommand {
    /// The preset, the files of rules, and every rule.
    Show,
    /// What would happen to a call, and which rule says so. Nothing is started or sent.
    Check {
        /// The server.
        server: String,
        /// The tool.
        #[arg(conflicts_with = "act")]
        tool: Option<String>,
        /// What would be sent: a JSON object.
        #[arg(value_name = "JSON", default_value = "{}")]
        args: String,
        /// Something else than the call of a tool.
        #[arg(long, value_parser = act())]
        act: Option<DryAct>,
        /// As asked for by a model that has read another server's output.
        #[arg(long)]
        after_untrusted: bool,
    },
    /// All rules and standing approvals, as JSON.
    Export,
}

/// The acts besides the call of a tool, by their names on the command line.
const ACTS: [(&str, &str); 7] = [
    ("read", "To get a prompt or read a resource"),
    ("start", "To start the server or connect to it"),
    ("sampling", "The server asks a model"),
    ("form", "The server asks for a form"),
    ("url", "The server asks to open an address"),
    ("roots", "The server asks for folders"),
    ("sign-in", "To sign in to the server"),
];

fn act() -> impl TypedValueParser<Value = DryAct> {
    let names = ACTS.map(|(name, help)| PossibleValue::new(name).help(help));
    let named = |name: String| serde_json::from_value::<DryAct>(json!({ "kind": name.replace('-', "_") }));
    PossibleValuesParser::new(names).try_map(named)
}

/// What to do with the audit log.
#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct Audit {
    #[command(subcommand)]
    pub(crate) command: Option<AuditCommand>,
    #[command(flatten)]
    pub(crate) list: AuditList,
}

/// What to do with the audit log.
#[derive(Debug, Subcommand)]
pub(crate) enum AuditCommand {
    /// The decisions, the newest first.
    List(AuditList),
    /// Checks that no decision was changed, removed or put elsewhere, and says where if one was. Ends with 1 then.
    Verify {
        /// A file that `export` wrote; the log itself if left out.
        file: Option<PathBuf>,
    },
    /// Prints all decisions as JSON Lines that `verify` can check by themselves.
    Export {
        /// The file to write, which must not be there yet; standard output if left out.
        file: Option<PathBuf>,
    },
}

/// Which decisions.
#[derive(Debug, Args)]
pub(crate) struct AuditList {
    /// At most so many.
    #[arg(long, default_value_t = 1_000)]
    pub(crate) limit: usize,
    /// Only of this server.
    #[arg(long, value_name = "NAME")]
    pub(crate) server: Option<String>,
    /// Only of this kind, such as tool or start-server.
    #[arg(long, value_name = "KIND")]
    pub(crate) kind: Option<String>,
    /// Only with this decision: allowed, denied, cancelled, withdrawn or noted.
    #[arg(long, value_name = "DECISION")]
    pub(crate) decision: Option<String>,
    /// Only from this time on: 2026-11-21, 2026-11-21T08:00:00Z, or so long ago: 30m, 12h, 7d.
    #[arg(long, value_name = "TIME")]
    pub(crate) since: Option<String>,
    /// Only before this time, in the same ways.
    #[arg(long, value_name = "TIME")]
    pub(crate) until: Option<String>,
    /// Only with all of these words.
    #[arg(long, value_name = "WORDS")]
    pub(crate) search: Option<String>,
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use clap::Command;

    use super::*;

    #[test]
    fn every_name_of_an_act_is_one() {
        for (name, _) in ACTS {
            assert!(act().parse_ref(&Command::new("check"), None, name.as_ref()).is_ok(), "{name}");
        }
        assert!(
            act().parse_ref(&Command::new("check"), None, "tool".as_ref()).is_err(),
            "a tool has arguments of its own"
        );
    }
}
