//! Arguments of the commands for registries, bundles and installations.

use std::path::PathBuf;

use clap::{Args, Subcommand};

/// Arguments of the `registry` command.
#[derive(Debug, Args)]
pub(crate) struct RegistryArguments {
    /// Address of the registry: https, or http on this computer. Defaults to DRAWBRIDGE_REGISTRY, or else to the
    /// settings.
    #[arg(long = "registry", value_name = "URL", global = true)]
    pub(crate) address: Option<String>,
    #[command(subcommand)]
    pub(crate) command: RegistryCommand,
}

/// Subcommands of the `registry` command.
#[derive(Debug, Subcommand)]
pub(crate) enum RegistryCommand {
    /// Lists servers whose name contains a text, each in its newest version.
    Search {
        /// Text to search for.
        text: String,
        /// Cursor of the page of results to list, as printed with the previous page.
        #[arg(long)]
        cursor: Option<String>,
    },
    /// Shows a server: its publisher, its status, and the exact command or address of each of its packages and remote
    /// endpoints.
    Show {
        /// Name of the server, such as io.github.alice/notes, or NAME@VERSION. Defaults to the newest version.
        #[arg(value_name = "NAME[@VERSION]")]
        name: String,
    },
}

/// Subcommands of the `bundle` command.
#[derive(Debug, Subcommand)]
pub(crate) enum BundleCommand {
    /// Shows the content of a bundle and the command that it would run. Nothing is unpacked or started.
    Inspect {
        /// Path of the bundle, a .mcpb or .dxt file.
        file: PathBuf,
    },
}

/// Arguments of the `install` command.
#[derive(Debug, Args)]
pub(crate) struct InstallArguments {
    /// Name of a server in the registry, or NAME@VERSION, by default in the newest version. Or the path of a bundle,
    /// which ends with .mcpb or .dxt.
    #[arg(value_name = "NAME[@VERSION]|FILE", required_unless_present = "upgrade")]
    pub(crate) what: Option<String>,
    /// Upgrade this installed server to the newest version, or to the given one. Its name, secrets, sandbox and rules
    /// are kept. If it runs in the app, it is stopped.
    #[arg(long, value_name = "SERVER", conflicts_with_all = ["name", "network", "read", "write", "no_sandbox"])]
    pub(crate) upgrade: Option<String>,
    /// Value of an input, except for secrets. Repeat it for several inputs, or for several values of an input.
    #[arg(long, value_name = "KEY=VALUE", allow_hyphen_values = true)]
    pub(crate) set: Vec<String>,
    /// Read the value of this input from standard input, as one line. If repeated, the lines are read in the order of
    /// the options.
    #[arg(long, value_name = "KEY", allow_hyphen_values = true)]
    pub(crate) secret: Vec<String>,
    /// Install the remote endpoint with this number in `registry show`.
    #[arg(long, value_name = "N", num_args = 0..=1, require_equals = true, default_missing_value = "1", conflicts_with = "package")]
    pub(crate) remote: Option<usize>,
    /// Install the package with this number in `registry show`.
    #[arg(long, value_name = "N")]
    pub(crate) package: Option<usize>,
    /// Name of the server in the settings. Defaults to a name derived from the registry or the bundle.
    #[arg(long, value_name = "NAME")]
    pub(crate) name: Option<String>,
    /// Host that the server may connect to from its sandbox, or "all". May be repeated. By default, the server has no
    /// network.
    #[arg(long, value_name = "HOST", conflicts_with = "no_sandbox")]
    pub(crate) network: Vec<String>,
    /// Folder that the server may read in its sandbox. May be repeated.
    #[arg(long, value_name = "DIR", conflicts_with = "no_sandbox")]
    pub(crate) read: Vec<PathBuf>,
    /// Folder that the server may modify in its sandbox. May be repeated.
    #[arg(long, value_name = "DIR", conflicts_with = "no_sandbox")]
    pub(crate) write: Vec<PathBuf>,
    /// Run the server without a sandbox, with all your rights.
    #[arg(long)]
    pub(crate) no_sandbox: bool,
    /// Reject the bundle unless its file has this SHA-256 hash.
    #[arg(long, value_name = "HASH")]
    pub(crate) sha256: Option<String>,
    /// Address of the registry. Defaults to DRAWBRIDGE_REGISTRY, or else to the settings.
    #[arg(long = "registry", value_name = "URL")]
    pub(crate) address: Option<String>,
    /// Add the server without confirmation.
    #[arg(long, conflicts_with = "dry_run")]
    pub(crate) yes: bool,
    /// Only show the configuration, and change nothing.
    #[arg(long)]
    pub(crate) dry_run: bool,
}
