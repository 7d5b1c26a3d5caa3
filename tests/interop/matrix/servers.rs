//! Servers of the matrix: SDK, command, supported revisions, and features that the SDK lacks.

use std::fmt;
use std::path::PathBuf;

use mcp_proto::Revision;
use ports::server_config::{HttpConfig, HttpKind, ServerConfig};
use tokio::sync::OnceCell;

use super::features::Feature;
use super::process::{HttpProcess, LaunchCommand};
use crate::installed;

/// MCP transport between the host and a server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Transport {
    Stdio,
    StreamableHttp,
    HttpSse,
}

impl Transport {
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Stdio => "stdio",
            Self::StreamableHttp => "Streamable HTTP",
            Self::HttpSse => "HTTP+SSE",
        }
    }
}

/// Test server in this repository that uses a third-party SDK.
pub(crate) struct MatrixServer {
    /// Expected name in the server's `serverInfo`.
    pub(crate) name: &'static str,
    /// Name of the SDK that the server is built on.
    pub(crate) sdk: &'static str,
    /// Returns the command that starts the server, without the argument that selects the transport.
    program: fn() -> LaunchCommand,
    /// Oldest and newest protocol revision that the server supports over stdio.
    revisions: (Revision, Revision),
    /// Argument that makes the server use Streamable HTTP, or `None` if the server does not support it. The port
    /// follows as another argument.
    streamable: Option<&'static str>,
    sse: Option<&'static str>,
    /// Features that the SDK does not support, each with the reason.
    pub(crate) lacks: &'static [(Feature, &'static str)],
}

use Revision::{V2024_11_05, V2025_03_26, V2025_11_25, V2026_07_28};

const DEMO_SERVER_NAME: &str = "demo-server";
const REASON_FOR_NO_RESUMPTION: &str = "a handler cannot drop its answer's stream";
const REASON_FOR_NO_TASKS: &str = "no tasks";

pub(crate) const MATRIX_SERVERS: &[MatrixServer] = &[
    MatrixServer {
        name: DEMO_SERVER_NAME,
        sdk: "rmcp",
        program: || LaunchCommand::new(testkit::binaries::demo_server(), &[]),
        revisions: (V2024_11_05, V2026_07_28),
        streamable: Some("--http"),
        sse: None,
        lacks: &[(Feature::Resumption, REASON_FOR_NO_RESUMPTION), (Feature::Tasks, "tasks of 2026-07-28 only")],
    },
    MatrixServer {
        name: "typescript-v2",
        sdk: "@modelcontextprotocol/server",
        program: || installed::node_server_command("typescript-v2.mjs"),
        revisions: (V2024_11_05, V2026_07_28),
        streamable: Some("http"),
        sse: None,
        lacks: &[(Feature::Tasks, REASON_FOR_NO_TASKS), (Feature::TaskExtension, REASON_FOR_NO_TASKS)],
    },
    MatrixServer {
        name: "typescript-v1",
        sdk: "@modelcontextprotocol/sdk",
        program: || installed::node_server_command("typescript-v1.mjs"),
        revisions: (V2024_11_05, V2025_11_25),
        streamable: Some("http"),
        sse: Some("http"),
        lacks: &[],
    },
    MatrixServer {
        name: "python-v2",
        sdk: "mcp",
        program: || installed::python_server_command("python_v2.py"),
        revisions: (V2024_11_05, V2026_07_28),
        streamable: Some("http"),
        sse: Some("http"),
        lacks: &[(Feature::Tasks, REASON_FOR_NO_TASKS), (Feature::TaskExtension, REASON_FOR_NO_TASKS)],
    },
    MatrixServer {
        name: "python-v1",
        sdk: "mcp (old)",
        program: || installed::old_python_server_command("python_v1.py"),
        revisions: (V2024_11_05, V2024_11_05),
        streamable: None,
        sse: Some("http"),
        lacks: &[
            (Feature::Pages, "lists have one page"),
            (Feature::Subscription, "never says that it has subscriptions"),
            (Feature::Cancel, "the SDK does not survive `notifications/cancelled`"),
        ],
    },
    MatrixServer {
        name: "fastmcp-v4",
        sdk: "fastmcp",
        program: || installed::python_server_command("fastmcp_v4.py"),
        revisions: (V2024_11_05, V2026_07_28),
        streamable: Some("http"),
        sse: Some("sse"),
        lacks: &[
            (Feature::Subscription, "no subscriptions to resources"),
            (Feature::Tasks, "tasks require a separate database"),
            (Feature::TaskExtension, "tasks require a separate database"),
        ],
    },
];

impl MatrixServer {
    /// Returns the command that starts the server with this transport.
    pub(crate) fn launch(&self, transport: Transport) -> LaunchCommand {
        let argument = match transport {
            // The demo server uses stdio without arguments.
            Transport::Stdio if self.name == DEMO_SERVER_NAME => return (self.program)(),
            Transport::Stdio => Some("stdio"),
            Transport::StreamableHttp => self.streamable,
            Transport::HttpSse => self.sse,
        };
        (self.program)().with_argument(argument.expect("the server should support the transport of its row"))
    }
}

/// Row of the matrix: a server with a transport and a revision.
#[derive(Clone, Copy)]
pub(crate) struct MatrixRow {
    pub(crate) server: &'static MatrixServer,
    pub(crate) transport: Transport,
    pub(crate) revision: Revision,
    /// `true` if the user selects the protocol revision in the settings, `false` if host and server negotiate it.
    pub(crate) pinned: bool,
}

impl MatrixRow {
    /// Returns the URL of the server's MCP endpoint at this origin.
    pub(crate) fn url(&self, origin: &str) -> String {
        format!("{origin}{}", if self.transport == Transport::HttpSse { "/sse" } else { "/mcp" })
    }

    /// Returns `true` if a lost stream of this server can be resumed.
    pub(crate) fn can_resume(&self) -> bool {
        Feature::Resumption.exists_in(self.revision, self.transport == Transport::StreamableHttp)
    }
}

impl fmt::Display for MatrixRow {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, {}, {}", self.server.name, self.transport.name(), self.revision)
    }
}

/// Returns a row for each transport and protocol revision of a server. The newest revision of each transport is
/// negotiated, and the user selects the others.
pub(crate) fn matrix_rows_of_server(server: &'static MatrixServer) -> Vec<MatrixRow> {
    let (oldest, newest) = server.revisions;
    let mut rows = Vec::new();
    let mut add = |transport, oldest: Revision, newest: Revision| {
        // The demo server can be limited to one revision, so each revision is negotiated.
        let is_found = server.name == DEMO_SERVER_NAME && transport == Transport::Stdio;
        for revision in Revision::ALL {
            if revision >= oldest && revision <= newest {
                rows.push(MatrixRow { server, transport, revision, pinned: revision != newest && !is_found });
            }
        }
    };
    add(Transport::Stdio, oldest, newest);
    if server.streamable.is_some() {
        add(Transport::StreamableHttp, oldest.max(V2025_03_26), newest);
    }
    if server.sse.is_some() {
        // The transport was defined in 2024-11-05. The revision is negotiated as usual.
        add(Transport::HttpSse, oldest, newest.min(Revision::NEWEST_LEGACY));
    }
    rows
}

/// Returns a row for each transport of a server with the newest protocol revision, and for Streamable HTTP another one
/// with the newest revision that has sessions and resumable streams.
pub(crate) fn rows_with_newest_revision_of_each_transport(server: &'static MatrixServer) -> Vec<MatrixRow> {
    let all = matrix_rows_of_server(server);
    let newest = |transport| all.iter().filter(|row| row.transport == transport).map(|row| row.revision).max();
    all.iter().filter(|row| Some(row.revision) == newest(row.transport) || row.can_resume()).copied().collect()
}

/// Processes of one server, one for each HTTP transport, each started when a test first needs it.
pub(crate) struct HttpProcesses {
    server: &'static MatrixServer,
    streamable: OnceCell<HttpProcess>,
    sse: OnceCell<HttpProcess>,
}

impl HttpProcesses {
    pub(crate) const fn new(server: &'static MatrixServer) -> Self {
        Self { server, streamable: OnceCell::const_new(), sse: OnceCell::const_new() }
    }

    pub(crate) async fn process(&self, transport: Transport) -> &HttpProcess {
        let cell = if transport == Transport::HttpSse { &self.sse } else { &self.streamable };
        cell.get_or_init(|| HttpProcess::start(self.server.launch(transport))).await
    }
}

/// Returns the settings of a row's server, as the user would enter them. If the server uses HTTP, starts its process
/// unless it is running.
pub(crate) async fn row_config(row: &MatrixRow, remote: &HttpProcesses) -> ServerConfig {
    let revision = row.pinned.then_some(row.revision);
    if row.transport == Transport::Stdio {
        if row.server.name == DEMO_SERVER_NAME {
            return testkit::app::demo_config(&["--revision", &row.revision.to_string()]);
        }
        return ServerConfig { revision, ..local_config(row.server.launch(row.transport)) };
    }
    config_at_origin(row, &remote.process(row.transport).await.origin)
}

/// Returns the settings of a row's server if it listens at this origin, as the user would enter them.
pub(crate) fn config_at_origin(row: &MatrixRow, origin: &str) -> ServerConfig {
    let kind = (row.transport == Transport::HttpSse && row.pinned).then_some(HttpKind::Sse);
    let revision = row.pinned.then_some(row.revision);
    ServerConfig { revision, ..HttpConfig { url: row.url(origin), kind, ..HttpConfig::default() }.into() }
}

/// Returns the settings of a local server that is started with this command.
pub(crate) fn local_config(launch: LaunchCommand) -> ServerConfig {
    let arguments: Vec<&str> = launch.arguments.iter().map(String::as_str).collect();
    testkit::app::local_config(launch.program, &arguments)
}

/// Returns the name of each SDK with the version that the repository pins.
pub(crate) fn pinned_sdk_versions() -> Vec<(&'static str, String)> {
    MATRIX_SERVERS
        .iter()
        .map(|server| (server.name, format!("{} {}", server.sdk, pinned_version_of_sdk(server.sdk))))
        .collect()
}

fn pinned_version_of_sdk(sdk: &str) -> String {
    let here = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    let read = |file: &str| {
        std::fs::read_to_string(here.join(file)).unwrap_or_else(|e| panic!("{file} should be readable: {e}"))
    };
    let (text, before, after) = match sdk {
        "rmcp" => (read("../../Cargo.lock"), "name = \"rmcp\"\nversion = \"".to_owned(), '"'),
        "mcp (old)" => (read("requirements-old.txt"), "\nmcp==".to_owned(), '\n'),
        "mcp" | "fastmcp" => (read("requirements.txt"), format!("\n{sdk}=="), '\n'),
        package => (read("../package.json"), format!("\"{package}\": \""), '"'),
    };
    let (_, rest) = text.split_once(&before).unwrap_or_else(|| panic!("the version of {sdk} should be pinned"));
    rest.split(after).next().unwrap_or_default().to_owned()
}
