//! Arguments of the commands for registries and bundles, and for installing what they describe.

use std::path::PathBuf;

use clap::{Args, Subcommand};

/// What to ask a registry.
#[derive(Debug, Args)]
pub(crate) struct Registry {
    /// The registry's address: https, or http on this computer. Unless given, that of DRAWBRIDGE_REGISTRY, or the one of the settings.
    #[arg(long = "registry", value_name = "URL", global = true)]
    pub(crate) address: Option<String>,
    #[command(subcommand)]
    pub(crate) command: RegistryCommand,
}

/// What to ask a registry.
#[derive(Debug, Subcommand)]
pub(crate) enum RegistryCommand {
    /// Lists servers whose name contains a text, each in its newest version.
    Search {
        /// The text.
        text: String,
        /// The next page: the cursor that was printed with the page before.
        #[arg(long)]
        cursor: Option<String>,
    },
    /// Shows a server: who may publish it, its status, and the exact command or address of each package and remote.
    Show {
        /// The server's name, such as io.github.alice/notes, and the version; the newest unless given.
        #[arg(value_name = "NAME[@VERSION]")]
        name: String,
    },
}

/// What to do with a bundle.
#[derive(Debug, Subcommand)]
pub(crate) enum BundleCommand {
    /// Shows what is in a bundle and what it would run. Nothing is unpacked or started.
    Inspect {
        /// The bundle, a .mcpb or .dxt file.
        file: PathBuf,
    },
}

/// What to install, and how.
#[derive(Debug, Args)]
pub(crate) struct Install {
    /// A server of a registry with its version, the newest unless given; or the path of a bundle, which ends with .mcpb or .dxt.
    #[arg(value_name = "NAME[@VERSION]|FILE", required_unless_present = "upgrade")]
    pub(crate) what: Option<String>,
    /// Put the newest version, or the one that is named, in the place of this installed server. It keeps its name, its secrets, its sandbox and its
    /// rules. If it runs in the app, it is stopped.
    #[arg(long, value_name = "SERVER", conflicts_with_all = ["name", "network", "read", "write", "no_sandbox"])]
    pub(crate) upgrade: Option<String>,
    /// The value of an input. Several are given for an input that takes several. Not for secrets.
    #[arg(long, value_name = "KEY=VALUE", allow_hyphen_values = true)]
    pub(crate) set: Vec<String>,
    /// Read the value of this input from standard input, as one line. Several are read in this order.
    #[arg(long, value_name = "KEY", allow_hyphen_values = true)]
    pub(crate) secret: Vec<String>,
    /// Set up this remote, by its number in `registry show`.
    #[arg(long, value_name = "N", num_args = 0..=1, require_equals = true, default_missing_value = "1", conflicts_with = "package")]
    pub(crate) remote: Option<usize>,
    /// Set up this package, by its number in `registry show`.
    #[arg(long, value_name = "N")]
    pub(crate) package: Option<usize>,
    /// The name that the server gets here.
    #[arg(long, value_name = "NAME")]
    pub(crate) name: Option<String>,
    /// A host that the server may connect to from its sandbox, or "all". May be given several times. Unless given, none.
    #[arg(long, value_name = "HOST", conflicts_with = "no_sandbox")]
    pub(crate) network: Vec<String>,
    /// A folder that the server may read in its sandbox. May be given several times.
    #[arg(long, value_name = "DIR", conflicts_with = "no_sandbox")]
    pub(crate) read: Vec<PathBuf>,
    /// A folder that the server may change in its sandbox. May be given several times.
    #[arg(long, value_name = "DIR", conflicts_with = "no_sandbox")]
    pub(crate) write: Vec<PathBuf>,
    /// Let the server reach all that you do.
    #[arg(long)]
    pub(crate) no_sandbox: bool,
    /// Refuse a bundle whose file does not have this hash.
    #[arg(long, value_name = "HASH")]
    pub(crate) sha256: Option<String>,
    /// The registry's address. Unless given, that of DRAWBRIDGE_REGISTRY, or the one of the settings.
    #[arg(long = "registry", value_name = "URL")]
    pub(crate) address: Option<String>,
    /// Add the server without asking.
    #[arg(long, conflicts_with = "dry_run")]
    pub(crate) yes: bool,
    /// Only show what would be set up.
    #[arg(long)]
    pub(crate) dry_run: bool,
}
