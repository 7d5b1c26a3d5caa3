//! Model servers, and the APIs that each supports.

use std::fmt;
use std::path::{Path, PathBuf};
use std::process::Command;

use models::{HttpProvider, ProviderKind};

use crate::fake::{FakeProvider, TEST_API_KEY, model_name, provider_client};
use crate::running::RunningProgram;

/// Third-party program that serves models and that the tests run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ModelServer {
    /// The fake provider aimock, which responds as scripted, depending on the last message.
    Aimock,
    /// LiteLLM's proxy, which forwards requests to aimock.
    LiteLlm,
    /// The server of llama.cpp, with a model of random weights.
    LlamaCpp,
}

impl ModelServer {
    /// All model servers that the tests run against, in the order of `PROVIDERS.md`.
    pub(crate) const ALL: [Self; 3] = [Self::Aimock, Self::LiteLlm, Self::LlamaCpp];

    /// Returns the name of the model server in the table of observations.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Aimock => "aimock",
            Self::LiteLlm => "LiteLLM",
            Self::LlamaCpp => "llama.cpp",
        }
    }

    /// Returns the APIs that the server supports.
    pub(crate) const fn wires(self) -> &'static [ProviderKind] {
        match self {
            Self::Aimock => &ProviderKind::ALL,
            Self::LiteLlm => {
                &[ProviderKind::OpenAi, ProviderKind::Responses, ProviderKind::Anthropic, ProviderKind::Gemini]
            }
            Self::LlamaCpp => &[ProviderKind::OpenAi, ProviderKind::Responses, ProviderKind::Anthropic],
        }
    }
}

/// A running model server, with one of its APIs.
#[derive(Debug, Clone)]
pub(crate) struct ServedWire {
    pub(crate) server: ModelServer,
    pub(crate) wire: ProviderKind,
    pub(crate) url: String,
    /// Identifier of the model to request.
    pub(crate) model: String,
}

impl ServedWire {
    pub(crate) fn new(server: ModelServer, wire: ProviderKind, url: &str) -> Self {
        let model = if server == ModelServer::LlamaCpp { "tiny".into() } else { model_name(wire) };
        Self { server, wire, url: url.to_owned(), model }
    }

    /// Returns `true` if the server responds as scripted in `tests/models/provider.mjs`, and not with the random text
    /// and arguments of a model with random weights.
    pub(crate) fn is_scripted(&self) -> bool {
        self.server != ModelServer::LlamaCpp
    }

    pub(crate) fn client(&self) -> HttpProvider {
        self.client_with_key(TEST_API_KEY)
    }

    pub(crate) fn client_with_key(&self, key: &str) -> HttpProvider {
        provider_client(self.wire, &self.url, Some(key), models::ConversionChoices::default())
    }
}

impl fmt::Display for ServedWire {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, {}", self.server.name(), wire_name(self.wire))
    }
}

/// Returns the name of an API in the table of observations.
pub(crate) const fn wire_name(wire: ProviderKind) -> &'static str {
    match wire {
        ProviderKind::OpenAi => "chat completions",
        ProviderKind::Responses => "Responses",
        ProviderKind::Anthropic => "Anthropic",
        ProviderKind::Gemini => "Gemini",
        ProviderKind::Ollama => "Ollama",
    }
}

/// Running processes of all model servers.
pub(crate) struct RunningServers {
    running: Vec<(ModelServer, RunningProgram)>,
}

impl RunningServers {
    pub(crate) fn start() -> Self {
        let aimock = start_server(ModelServer::Aimock, None);
        let proxy = start_server(ModelServer::LiteLlm, Some(&aimock));
        let llama = start_server(ModelServer::LlamaCpp, None);
        Self { running: ModelServer::ALL.into_iter().zip([aimock, proxy, llama]).collect() }
    }

    pub(crate) fn served_wires(&self) -> Vec<ServedWire> {
        let of = |(server, running): &(ModelServer, RunningProgram)| {
            server.wires().iter().map(|wire| ServedWire::new(*server, *wire, &running.url)).collect::<Vec<_>>()
        };
        self.running.iter().flat_map(of).collect()
    }
}

/// Starts a model server. `behind` is the provider to which it forwards requests if it is a proxy.
#[allow(clippy::disallowed_methods, reason = "starts a model server, not an MCP server")]
pub(crate) fn start_server(server: ModelServer, behind: Option<&RunningProgram>) -> RunningProgram {
    let script = match server {
        ModelServer::Aimock => return FakeProvider::start().0,
        ModelServer::LiteLlm => "litellm_proxy.py",
        ModelServer::LlamaCpp => "llama_server.py",
    };
    let mut command = Command::new(python_path());
    command.arg("-u").arg(Path::new(env!("CARGO_MANIFEST_DIR")).join(script)).env("SERVER_KEY", TEST_API_KEY);
    if let Some(behind) = behind {
        command.env("UPSTREAM", format!("{}/v1", behind.url));
    }
    RunningProgram::start(&mut command)
}

/// Returns the path of the Python interpreter in the environment where `requirements.txt` is installed.
fn python_path() -> PathBuf {
    let venv =
        std::env::var_os("MODEL_SERVERS_VENV").expect("run `cargo xtask test models`, which installs the servers");
    Path::new(&venv).join(if cfg!(windows) { "Scripts/python.exe" } else { "bin/python" })
}
