//! Definition of the command line.

mod installs;
mod models;
mod rules;

pub(crate) use installs::{BundleCommand, InstallArguments, RegistryArguments, RegistryCommand};
pub(crate) use models::{ChatArguments, ModelsCommand, NewProvider, ProviderKindName, SamplingArguments};
pub(crate) use rules::{
    AuditArguments, AuditCommand, AuditFilter, DataFlowArguments, PolicyCommand, ResultReviewName, SameServerFlowName,
};

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};

const EXAMPLES_AFTER_HELP: &str = "\
Nothing is sent without consent. On a terminal you are prompted. Elsewhere everything that requires consent is refused, except \
what the answers file (--answers) allows. With an answers file there are no prompts: anything without an entry is refused.

The file is a list, in which the first matching entry decides:
  [{\"kind\": \"start-server\", \"server\": \"files\", \"hash\": \"5d0c...\", \"answer\": {\"action\": \"allow\"}},
   {\"kind\": \"tool\", \"server\": \"files\", \"name\": \"read_*\", \"answer\": {\"action\": \"allow\"}},
   {\"kind\": \"elicitation\", \"answer\": {\"action\": \"accept\", \"content\": {\"city\": \"Oslo\"}}},
   {\"kind\": \"sampling\", \"answer\": {\"action\": \"accept\", \"content\": {\"text\": \"Yes.\"}}},
   {\"kind\": \"sampling\", \"server\": \"notes\", \"answer\": {\"action\": \"allow\"}},
   {\"kind\": \"roots\", \"answer\": {\"action\": \"accept\", \"roots\": [\"/srv\"]}},
   {\"kind\": \"sign-in\", \"name\": \"https://login.example.com\", \"answer\": {\"action\": \"allow\"}},
   {\"kind\": \"client-id\", \"answer\": {\"action\": \"accept\", \"content\": {\"clientId\": \"drawbridge\"}}},
   {\"kind\": \"result\", \"server\": \"files\", \"name\": \"read_*\", \"answer\": {\"action\": \"allow\"}},
   {\"kind\": \"resource\", \"name\": \"file:///srv/*\", \"answer\": {\"action\": \"allow\"}},
   {\"kind\": \"url\", \"name\": \"https://example.com/*\", \"answer\": {\"action\": \"decline\"}}]
\"server\" and \"name\" are patterns with * and ?. In a URL, an issuer or a resource, an allow compares scheme, host and path separately and \
only matches the normal spelling. A refusal matches every spelling and, if it names no port, every port. The name is the \
command line of a start as in your settings, or the address: \"start-server\" also allows connecting to a remote server. \
For other kinds it is the tool of a call or result, the prompt or resource that is read, the URL, the issuer of a sign-in, or else the tool, prompt \
or resource that caused the request. \"sampling\" without content lets the chosen model answer.

An allow has limits:
  A start or a connection requires the \"hash\" of everything that would start (command, package version, variables, folder, \
sandbox, program) or be connected to. With \"commandLineOnly\": true, only the command line or address of your settings is compared, with any version \
of a package for which they name none.
  A tool must be reviewed and without flags (see \"review\"), or be named by the \"hash\" of its definition or of the call. \"unreviewed\": true \
allows any tool. If a definition has changed since the last call, a note is printed to standard error.
  A call by a model that has read another server's output, or untrusted content of the same server, requires
  \"afterUntrusted\": true.
  A suspicious result requires its \"hash\". A result without an entry is withheld from the model.
  An act for which a rule requires consent each time needs the \"hash\" of that act.
Each refusal prints the required hash.

TRACEPARENT, TRACESTATE and BAGGAGE in the environment (W3C Trace Context) are sent with every call to servers of revision 2026-07-28.

Exit status: 0 success (also if watching was interrupted), 1 failure, 2 usage error, 3 refused, 4 unproved audit log, 130 or 143 interrupted by a signal. \
If a form, a page or folders are refused, the server decides whether its call fails.";

/// Uses MCP servers from a terminal, a script or CI: the same host, policy and audit log as the Drawbridge app.
#[derive(Debug, Parser)]
#[command(name = "drawbridge-cli", version, after_help = EXAMPLES_AFTER_HELP)]
pub(crate) struct Arguments {
    /// File with the settings of the servers. Defaults to the app's own.
    #[arg(long, global = true, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
    /// Folder for the audit log, approvals and shared folders. Defaults to the app's own.
    #[arg(long, global = true, value_name = "DIR")]
    pub(crate) data_dir: Option<PathBuf>,
    /// Answers file: JSON with your decisions on consent requests.
    #[arg(long, global = true, value_name = "FILE")]
    pub(crate) answers: Option<PathBuf>,
    /// Print JSON Lines: one object per event, the result last.
    #[arg(long, global = true)]
    pub(crate) json: bool,
    /// For commands that sign in: read the final address of the browser from standard input, because the browser may
    /// run on another computer. `login` does so by default if there is no display.
    #[arg(long, global = true)]
    pub(crate) paste: bool,
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// Command of the program, with its arguments.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Lists all servers with their states, transports, protocol revisions and capabilities.
    Servers,
    /// Lists the tools of a server, or of all servers.
    Tools(ServerArgument),
    /// Lists the prompts of a server, or of all servers.
    Prompts(ServerArgument),
    /// Lists the resources of a server, or of all servers.
    Resources(ServerArgument),
    /// Lists the resource templates of a server, or of all servers.
    Templates(ServerArgument),
    /// Calls a tool of a server.
    Call {
        /// Name of the server in the settings.
        server: String,
        /// Name of the tool, as the server lists it.
        tool: String,
        /// Arguments of the tool: a JSON object.
        #[arg(long, value_name = "JSON", default_value = "{}")]
        args: String,
    },
    /// Shows what the app of a tool may access, and saves its page. Only the window of Drawbridge can show the app
    /// itself.
    App(AppArguments),
    /// Gets the messages of a prompt.
    Prompt {
        /// Name of the server in the settings.
        server: String,
        /// Name of the prompt, as the server lists it.
        name: String,
        /// Arguments of the prompt: a JSON object of strings.
        #[arg(long, value_name = "JSON", default_value = "{}")]
        args: String,
    },
    /// Reads a resource of a server.
    Read {
        /// Name of the server in the settings.
        server: String,
        /// URI of the resource.
        uri: String,
    },
    /// Lists the skills of servers, or reads one.
    Skills {
        #[command(subcommand)]
        command: SkillsCommand,
    },
    /// Completes an argument of a prompt or a variable of a template.
    Complete(CompleteArguments),
    /// Signs in to a remote server in the browser, after showing what is sent to whom. With --paste, the address is
    /// printed instead of opened. Fails if there is no keychain to store the tokens.
    Login {
        /// Name of the server in the settings.
        server: String,
    },
    /// Signs out of a server, and revokes the tokens if the authorization server supports it.
    Logout {
        /// Name of the server in the settings.
        server: String,
    },
    /// Shows the account that is signed in to a server, and the requests and responses of the last sign-in.
    Auth {
        /// Name of the server in the settings.
        #[arg(required_unless_present = "client_document", conflicts_with = "client_document")]
        server: Option<String>,
        /// Instead, print a client ID metadata document to publish at this address, for use as "clientMetadataUrl" of
        /// servers.
        #[arg(long, value_name = "URL")]
        client_document: Option<String>,
    },
    /// Stores a secret that a server's settings refer to as ${secret:NAME}. Reads its value from standard input.
    Secret {
        /// Name of the server in the settings.
        server: String,
        /// Name of the secret, or of the header or environment variable that contains it.
        name: String,
    },
    /// Imports servers from the settings of other apps. They are added stopped and without any approval, and secrets
    /// are stored in the keychain. Nothing is started, and no file of another app is changed.
    Import(ImportArguments),
    /// Prints the settings of the servers in the format of another app. Secrets become references, and settings that
    /// the format lacks are listed on standard error.
    Export {
        /// Format of the settings to print.
        #[arg(long, value_name = "FORM", default_value = "mcpServers")]
        format: ExportFormat,
    },
    /// Prints a link that installs a server, to publish on a page or in a README. Secrets are left blank.
    Link(LinkArguments),
    /// Lists the servers of a registry, or shows one. Nothing is installed.
    Registry(RegistryArguments),
    /// Inspects bundles of servers (.mcpb and .dxt files).
    Bundle {
        #[command(subcommand)]
        command: BundleCommand,
    },
    /// Installs a server from a registry or a bundle, after showing its configuration. The server is stopped and
    /// unapproved, and requires approval when it is started, like any other.
    Install(InstallArguments),
    /// Shows what a local server could access in its sandbox, and which mechanism enforces it. Nothing is started.
    Sandbox {
        /// Name of the server in the settings.
        server: String,
    },
    /// Shows which tools and prompts of a server are new or changed since you reviewed them, with warnings about
    /// suspicious content.
    Review {
        /// Name of the server in the settings.
        server: String,
        /// Mark these tools and prompts as reviewed, each with the hash that was printed with it. Until then, no
        /// approval or rule covers them.
        #[arg(long, value_name = "NAME@HASH", num_args = 1..)]
        accept: Vec<String>,
    },
    /// Shows the server's identity and the tools and prompts that were recorded when you reviewed them.
    Pins {
        /// Name of the server in the settings.
        server: String,
    },
    /// Starts a conversation with a model, which may use the tools of the named servers. Its calls require the same
    /// approvals as those of `call`.
    Chat(ChatArguments),
    /// Shows or sets the limits for a server's use of your models, which is off by default.
    Sampling(SamplingArguments),
    /// Shows or sets which of a server's results you review before a model reads them, and after reading which content
    /// a model's calls require approval.
    Flow(DataFlowArguments),
    /// Shows the rules, checks what they would decide, or prints them as JSON.
    Policy {
        #[command(subcommand)]
        command: PolicyCommand,
    },
    /// Lists and manages the providers of models.
    Models {
        #[command(subcommand)]
        command: Option<ModelsCommand>,
    },
    /// Shows the events of all servers, or of one server, as they occur, until interrupted.
    Watch(ServerArgument),
    /// Lists, verifies or exports the decisions in the audit log. Lists them by default.
    Audit(AuditArguments),
    /// Checks this computer for problems that prevent servers from working, and suggests fixes. Changes nothing, and
    /// sends nothing to other computers. Exits with 1 if there is a problem.
    Doctor(DoctorArguments),
    #[command(flatten)]
    Documents(DocumentationCommand),
}

/// Arguments of the `app` command.
#[derive(Debug, Args)]
pub(crate) struct AppArguments {
    /// Name of the server in the settings.
    pub(crate) server: String,
    /// Name of the tool, as the server lists it.
    pub(crate) tool: String,
    /// Save the page of the app to this file, which must not exist.
    #[arg(long, value_name = "FILE")]
    pub(crate) html: Option<PathBuf>,
}

/// Arguments of the `doctor` command.
#[derive(Debug, Args)]
pub(crate) struct DoctorArguments {
    /// Print a report to paste into an issue: Markdown without names, commands, addresses, values or private paths.
    #[arg(long)]
    pub(crate) report: bool,
}

/// Commands that generate documentation of the program.
#[derive(Debug, Subcommand)]
pub(crate) enum DocumentationCommand {
    /// Prints the completions for a shell. Packages install them; `drawbridge-cli completions bash` is for other
    /// installations.
    Completions {
        /// Shell to print the completions for.
        shell: clap_complete::Shell,
    },
    /// Writes the manual pages of the program and of each command into a folder.
    Man {
        /// Existing folder for the pages.
        #[arg(value_name = "DIR")]
        folder: PathBuf,
    },
}

/// Argument that selects one server, or all servers if it is missing.
#[derive(Debug, Args)]
pub(crate) struct ServerArgument {
    /// Name of the server. Defaults to all servers.
    pub(crate) server: Option<String>,
}

/// Arguments of the `import` command.
#[derive(Debug, Args)]
pub(crate) struct ImportArguments {
    /// Only import from this app, such as cursor or codex, from this file, or from the apps' files in this project
    /// folder.
    #[arg(long, value_name = "APP|FILE")]
    pub(crate) from: Option<String>,
    /// Home folder to search, for instance on another disk. Defaults to your own, with the folders that your
    /// environment variables set for apps.
    #[arg(long, value_name = "DIR")]
    pub(crate) home: Option<PathBuf>,
    /// Project folder that replaces ${workspaceFolder} in your settings of other apps. Defaults to leaving the
    /// placeholder as it is.
    #[arg(long, value_name = "DIR")]
    pub(crate) workspace: Option<PathBuf>,
    /// Take the value of this variable from your environment, for all values that refer to it. Secrets go to the
    /// keychain. Can be repeated. Defaults to leaving the values to you.
    #[arg(long, value_name = "NAME")]
    pub(crate) take_env: Vec<String>,
    /// Take the values from this environment file, for all servers that refer to it by this path. Can be repeated.
    #[arg(long, value_name = "FILE")]
    pub(crate) take_file: Vec<String>,
    /// Only show what would be imported.
    #[arg(long)]
    pub(crate) dry_run: bool,
}

/// Arguments of the `link` command.
#[derive(Debug, Args)]
pub(crate) struct LinkArguments {
    /// Name of the server in the settings.
    pub(crate) server: String,
    /// App that the link is for.
    #[arg(long = "for", value_name = "APP", default_value = "drawbridge")]
    pub(crate) app: InstallLinkApp,
    /// Print Markdown for a README: "Add to Drawbridge", with the link.
    #[arg(long)]
    pub(crate) markdown: bool,
}

/// App that opens an install link.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum InstallLinkApp {
    /// Drawbridge, with a link of the scheme `drawbridge:`.
    Drawbridge,
    /// Cursor, with its deep link for MCP servers.
    Cursor,
    /// Visual Studio Code, with its link for MCP servers.
    #[value(name = "vscode")]
    VsCode,
}

/// Format in which the command `export` prints the servers, for the settings file of another app.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum ExportFormat {
    /// The format of most apps: an object `mcpServers`.
    #[value(name = "mcpServers")]
    McpServers,
    /// The format of VS Code's mcp.json.
    #[value(name = "vscode")]
    VsCode,
}

/// Subcommands of the `skills` command.
#[derive(Debug, Subcommand)]
pub(crate) enum SkillsCommand {
    /// Lists the skills of a server, or of all servers.
    List(ServerArgument),
    /// Reads a skill's instructions, or one of its files, and verifies it against the server's list. Reading requires
    /// the same approval as for any resource.
    Read {
        /// Name of the server in the settings.
        server: String,
        /// Name of the skill, or the URI of its SKILL.md.
        name: String,
        /// File, as its path within the skill or its URI. Defaults to SKILL.md.
        #[arg(long, value_name = "FILE")]
        file: Option<String>,
    },
}

/// Arguments of the `complete` command.
#[derive(Debug, Args)]
pub(crate) struct CompleteArguments {
    /// Name of the server in the settings.
    pub(crate) server: String,
    #[command(flatten)]
    pub(crate) of: PromptOrTemplate,
    /// Name of the argument or variable to complete.
    #[arg(long, value_name = "NAME")]
    pub(crate) argument: String,
    /// Text entered so far for the argument or variable.
    #[arg(long, value_name = "TEXT", default_value = "", allow_hyphen_values = true)]
    pub(crate) value: String,
    /// Values of the other arguments that are already known: a JSON object of strings.
    #[arg(long, value_name = "JSON", default_value = "{}")]
    pub(crate) context: String,
}

/// Prompt or resource template whose argument is completed.
#[derive(Debug, Args)]
#[group(required = true, multiple = false)]
pub(crate) struct PromptOrTemplate {
    /// Name of the prompt whose argument is completed.
    #[arg(long, value_name = "NAME")]
    pub(crate) prompt: Option<String>,
    /// URI of the resource template whose variable is completed.
    #[arg(long, value_name = "URI")]
    pub(crate) template: Option<String>,
}

#[cfg(test)]
mod tests {
    use clap::Parser as _;
    use testkit::guide_examples::guide_examples;

    use super::*;

    #[test]
    fn every_command_of_the_guide_is_accepted() {
        for language in ["en", "zh"] {
            for example in guide_examples(language) {
                assert_eq!(example.words[0], "drawbridge-cli", "{language}/{}", example.location);
                if let Err(error) = Arguments::try_parse_from(&example.words) {
                    panic!("{language}/{}: {error}", example.location);
                }
            }
        }
    }
}
