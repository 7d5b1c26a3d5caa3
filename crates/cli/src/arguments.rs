//! The command line.

mod installs;
mod models;
mod rules;

pub(crate) use installs::{BundleCommand, Install, Registry, RegistryCommand};
pub(crate) use models::{Chat, ModelsCommand, NewProvider, Sampling, WireName};
pub(crate) use rules::{Audit, AuditCommand, AuditList, Flow, PolicyCommand, ReviewName, SameServerName};

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};

const AFTER: &str = "\
Nothing crosses without consent. On a terminal you are asked; elsewhere everything that needs consent is refused, except \
what the file given with --answers allows. With that file nobody is asked: what it does not answer is refused.

The file is a list; the first entry that fits answers:
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
\"server\" and \"name\" are patterns with * and ?. In a URL, an issuer or a resource an allow compares host, path and scheme each by itself and \
takes only the normal spelling; a refusal takes every spelling and, if it names no port, every port. The name is the \
command line of a start as your settings have it, or the address: \"start-server\" also allows connecting to a remote server. \
It is the tool of a call or a result, the prompt or resource that is read, the URL, the issuer that is signed in at, and else the tool, prompt or resource \
that led to the question. \"sampling\" without content lets the model answer that is chosen.

An allow goes only so far:
  A start or a connection needs the \"hash\" of all that would start (command, version of the package, variables, folder, \
sandbox, program) or be connected to; \"commandLineOnly\": true goes by the command line or address alone, as your settings have it: with any version \
of a package for which they name none.
  A tool must be reviewed and carry no mark (see \"review\"), or be named by the \"hash\" of its definition or of the call; \"unreviewed\": true \
allows any. When a definition is not the one of the last call, that is said on standard error.
  A call that a model asks for after another server's words, or untrusted content of the same one, needs
  \"afterUntrusted\": true.
  A result in which something looks wrong needs its \"hash\"; without an answer the model does not read it.
  What a rule asks for each time needs the \"hash\" of that very act.
Each refusal prints the hash to write.

TRACEPARENT, TRACESTATE and BAGGAGE in the environment (W3C Trace Context) go with every call to servers of 2026-07-28.

Exit status: 0 done (also when watching was interrupted), 1 failed, 2 wrong usage, 3 refused, 4 an audit log that nothing proves, 130 or 143 interrupted by a signal. \
A server that was refused a form, a page or folders decides itself whether its call fails.";

/// Uses MCP servers from a terminal, a script or CI: the same host as the Drawbridge app, the same policy, the same audit log.
#[derive(Debug, Parser)]
#[command(name = "drawbridge-cli", version, after_help = AFTER)]
pub(crate) struct Arguments {
    /// The settings file with the servers. Unless given, the app's own.
    #[arg(long, global = true, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
    /// The folder for the audit log, approvals and folders. Unless given, the app's own.
    #[arg(long, global = true, value_name = "DIR")]
    pub(crate) data_dir: Option<PathBuf>,
    /// A file that answers the questions.
    #[arg(long, global = true, value_name = "FILE")]
    pub(crate) answers: Option<PathBuf>,
    /// Print JSON Lines: one object per event, the result last.
    #[arg(long, global = true)]
    pub(crate) json: bool,
    /// Where a command signs in: read the address that the browser ends up at from standard input, as the browser may be on
    /// another computer. `login` does so anyway where there is no display.
    #[arg(long, global = true)]
    pub(crate) paste: bool,
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// What to do.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Names, states, transports, revisions and capabilities of all servers.
    Servers,
    /// The tools of a server, or of all.
    Tools(Of),
    /// The prompts of a server, or of all.
    Prompts(Of),
    /// The resources of a server, or of all.
    Resources(Of),
    /// The resource templates of a server, or of all.
    Templates(Of),
    /// Calls a tool.
    Call {
        /// The server.
        server: String,
        /// The tool.
        tool: String,
        /// Its arguments: a JSON object.
        #[arg(long, value_name = "JSON", default_value = "{}")]
        args: String,
    },
    /// Gets a prompt's messages.
    Prompt {
        /// The server.
        server: String,
        /// The prompt.
        name: String,
        /// Its arguments: a JSON object of texts.
        #[arg(long, value_name = "JSON", default_value = "{}")]
        args: String,
    },
    /// Reads a resource.
    Read {
        /// The server.
        server: String,
        /// The resource.
        uri: String,
    },
    /// The skills of servers: lists them, or reads one.
    Skills {
        #[command(subcommand)]
        command: SkillsCommand,
    },
    /// Completes an argument of a prompt or a variable of a template.
    Complete(Complete),
    /// Signs in to a remote server in the browser, after saying what is sent to whom. With --paste the address is printed
    /// and not opened. Fails where there is no keychain that could keep the sign-in.
    Login {
        /// The server.
        server: String,
    },
    /// Forgets the sign-in to a server, and has its tokens revoked where that is offered.
    Logout {
        /// The server.
        server: String,
    },
    /// Who is signed in at a server, and what the last sign-in sent and got.
    Auth {
        /// The server.
        #[arg(required_unless_present = "client_document", conflicts_with = "client_document")]
        server: Option<String>,
        /// Instead, print the document to put at this address, so that it can be the "clientMetadataUrl" of servers.
        #[arg(long, value_name = "URL")]
        client_document: Option<String>,
    },
    /// Keeps a secret that a server's settings name, as ${secret:NAME}. It is read from standard input.
    Secret {
        /// The server.
        server: String,
        /// The name; of a header or a variable, its own name.
        name: String,
    },
    /// Takes over servers from the settings of other apps: all that are found, stopped and without any approval. Secrets go to the keychain.
    /// Nothing is started, and no file of another app is changed.
    Import(Import),
    /// Prints the servers for another app. Secrets stand in it as references, never as text.
    Export {
        /// The app's form.
        #[arg(long, value_name = "FORM", default_value = "mcpServers")]
        format: ExportFormat,
    },
    /// Prints a link that installs a server, to be put on a page or into a README. Secrets are left blank in it.
    Link(Link),
    /// Lists the servers of a registry, and shows one. Nothing is installed.
    Registry(Registry),
    /// Bundles of servers, as .mcpb and .dxt files.
    Bundle {
        #[command(subcommand)]
        command: BundleCommand,
    },
    /// Adds a server of a registry or a bundle, after showing what is set up. The server is stopped and unapproved, and is asked about when it
    /// is started, as any other.
    Install(Install),
    /// What a local server would reach in its sandbox, and what would hold it. Nothing is started.
    Sandbox {
        /// The server.
        server: String,
    },
    /// What is new or changed on a server since you saw it, and what is strange about it.
    Review {
        /// The server.
        server: String,
        /// Mark these tools and prompts as seen, each with the hash that was printed with it. Until then no approval or rule
        /// covers them.
        #[arg(long, value_name = "NAME@HASH", num_args = 1..)]
        accept: Vec<String>,
    },
    /// What was kept of what you saw of a server: what it is, and which definitions.
    Pins {
        /// The server.
        server: String,
    },
    /// Has a conversation with a model, which may use the tools of the servers that are named. Its calls are asked about as
    /// those of `call`.
    Chat(Chat),
    /// How much of your models a server may use, and what it used; with options, sets it. Off until you turn it on.
    Sampling(Sampling),
    /// Which results of a server you review before a model reads them, and after what content its calls ask; with options, sets it.
    Flow(Flow),
    /// The rules: shows them, tells what would happen, or prints all of it as JSON.
    Policy {
        #[command(subcommand)]
        command: PolicyCommand,
    },
    /// The providers of models: lists them unless told otherwise.
    Models {
        #[command(subcommand)]
        command: Option<ModelsCommand>,
    },
    /// Shows events as they come, until interrupted.
    Watch(Of),
    /// The decisions: lists, checks or exports them. Unless told otherwise, lists them.
    Audit(Audit),
    /// Looks at this computer for what keeps servers from working, and says what to do. Nothing is changed, and nothing is sent to another
    /// computer. Exits with 1 if there is a problem.
    Doctor(Doctor),
    #[command(flatten)]
    Documents(Documents),
}

/// How to tell what was found.
#[derive(Debug, Args)]
pub(crate) struct Doctor {
    /// Print a report to paste into an issue: Markdown without names, commands, addresses, values or private paths.
    #[arg(long)]
    pub(crate) report: bool,
}

/// What the program writes about itself.
#[derive(Debug, Subcommand)]
pub(crate) enum Documents {
    /// Prints the completions for a shell. Packages install them; `drawbridge-cli completions bash` is for other installations.
    Completions {
        /// The shell.
        shell: clap_complete::Shell,
    },
    /// Writes the manual pages of the program and of each command into a folder.
    Man {
        /// The folder, which must exist.
        #[arg(value_name = "DIR")]
        folder: PathBuf,
    },
}

/// A server, or all.
#[derive(Debug, Args)]
pub(crate) struct Of {
    /// The server; all if left out.
    pub(crate) server: Option<String>,
}

/// What to import.
#[derive(Debug, Args)]
pub(crate) struct Import {
    /// Only from this app, such as cursor or codex, from this file, or from the files of apps in this project folder.
    #[arg(long, value_name = "APP|FILE")]
    pub(crate) from: Option<String>,
    /// The home folder to look in, for instance on another disk. Unless given, your own, and where your environment has apps keep their
    /// settings.
    #[arg(long, value_name = "DIR")]
    pub(crate) home: Option<PathBuf>,
    /// Only say what would be imported.
    #[arg(long)]
    pub(crate) dry_run: bool,
}

/// A link to write.
#[derive(Debug, Args)]
pub(crate) struct Link {
    /// The server.
    pub(crate) server: String,
    /// The app that the link is for.
    #[arg(long = "for", value_name = "APP", default_value = "drawbridge")]
    pub(crate) app: LinkApp,
    /// Print Markdown for a README: "Add to Drawbridge", with the link.
    #[arg(long)]
    pub(crate) markdown: bool,
}

/// The app that a link is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum LinkApp {
    /// Drawbridge itself.
    Drawbridge,
    /// Cursor.
    Cursor,
    /// Visual Studio Code.
    #[value(name = "vscode")]
    VsCode,
}

/// The form of an export.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum ExportFormat {
    /// That of most apps.
    #[value(name = "mcpServers")]
    McpServers,
    /// That of VS Code's mcp.json.
    #[value(name = "vscode")]
    VsCode,
}

/// What to do with skills.
#[derive(Debug, Subcommand)]
pub(crate) enum SkillsCommand {
    /// The skills of a server, or of all.
    List(Of),
    /// Reads a skill's instructions, or a file of it, and checks that it is what the server lists. Reading is asked about as that of any
    /// resource.
    Read {
        /// The server.
        server: String,
        /// The skill's name, or the URI of its SKILL.md.
        name: String,
        /// The file, as its path within the skill or its URI; without it SKILL.md.
        #[arg(long, value_name = "FILE")]
        file: Option<String>,
    },
}

/// What to complete.
#[derive(Debug, Args)]
pub(crate) struct Complete {
    /// The server.
    pub(crate) server: String,
    #[command(flatten)]
    pub(crate) of: PromptOrTemplate,
    /// The argument's or variable's name.
    #[arg(long, value_name = "NAME")]
    pub(crate) argument: String,
    /// What is typed so far.
    #[arg(long, value_name = "TEXT", default_value = "", allow_hyphen_values = true)]
    pub(crate) value: String,
    /// The arguments given already: a JSON object of texts.
    #[arg(long, value_name = "JSON", default_value = "{}")]
    pub(crate) context: String,
}

/// What has the argument.
#[derive(Debug, Args)]
#[group(required = true, multiple = false)]
pub(crate) struct PromptOrTemplate {
    /// A prompt.
    #[arg(long, value_name = "NAME")]
    pub(crate) prompt: Option<String>,
    /// A resource template.
    #[arg(long, value_name = "URI")]
    pub(crate) template: Option<String>,
}
