//! The servers, and the wires that each supports.

use std::fmt;
use std::path::{Path, PathBuf};
use std::process::Command;

use models::{HttpProvider, ProviderKind};

use crate::fake::{Fake, KEY, WIRES, model, provider};
use crate::running::Running;

/// A program that serves models.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Server {
    /// Responds according to the last message.
    Aimock,
    /// LiteLLM's proxy, with aimock behind it.
    LiteLlm,
    /// llama.cpp's server, with a model of random weights.
    LlamaCpp,
}

impl Server {
    /// All model servers of the table.
    pub(crate) const ALL: [Self; 3] = [Self::Aimock, Self::LiteLlm, Self::LlamaCpp];

    /// Returns the server's name in the table.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Aimock => "aimock",
            Self::LiteLlm => "LiteLLM",
            Self::LlamaCpp => "llama.cpp",
        }
    }

    /// Returns the wires that the server supports.
    pub(crate) const fn wires(self) -> &'static [ProviderKind] {
        match self {
            Self::Aimock => &WIRES,
            Self::LiteLlm => {
                &[ProviderKind::OpenAi, ProviderKind::Responses, ProviderKind::Anthropic, ProviderKind::Gemini]
            }
            Self::LlamaCpp => &[ProviderKind::OpenAi, ProviderKind::Responses, ProviderKind::Anthropic],
        }
    }
}

/// A server together with the wire that is tested.
#[derive(Debug, Clone)]
pub(crate) struct Place {
    pub(crate) server: Server,
    pub(crate) wire: ProviderKind,
    pub(crate) url: String,
    /// Identifier of the requested model.
    pub(crate) model: String,
}

impl Place {
    pub(crate) fn of(server: Server, wire: ProviderKind, url: &str) -> Self {
        let model = if server == Server::LlamaCpp { "tiny".into() } else { model(wire) };
        Self { server, wire, url: url.to_owned(), model }
    }

    /// Returns `true` if the server responds as `tests/models/provider.mjs` scripts it. The model with random weights
    /// responds with noise.
    pub(crate) fn is_scripted(&self) -> bool {
        self.server != Server::LlamaCpp
    }

    pub(crate) fn provider(&self) -> HttpProvider {
        self.provider_with(KEY)
    }

    pub(crate) fn provider_with(&self, key: &str) -> HttpProvider {
        provider(self.wire, &self.url, Some(key), models::Conversions::default())
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, {}", self.server.name(), wire_name(self.wire))
    }
}

/// Returns the name of a wire in the table.
pub(crate) const fn wire_name(wire: ProviderKind) -> &'static str {
    match wire {
        ProviderKind::OpenAi => "chat completions",
        ProviderKind::Responses => "Responses",
        ProviderKind::Anthropic => "Anthropic",
        ProviderKind::Gemini => "Gemini",
        ProviderKind::Ollama => "Ollama",
    }
}

/// All model servers, in running processes.
pub(crate) struct Servers {
    running: Vec<(Server, Running)>,
}

impl Servers {
    pub(crate) fn start() -> Self {
        let aimock = start(Server::Aimock, None);
        let proxy = start(Server::LiteLlm, Some(&aimock));
        let llama = start(Server::LlamaCpp, None);
        Self { running: Server::ALL.into_iter().zip([aimock, proxy, llama]).collect() }
    }

    pub(crate) fn places(&self) -> Vec<Place> {
        let of = |(server, running): &(Server, Running)| {
            server.wires().iter().map(|wire| Place::of(*server, *wire, &running.url)).collect::<Vec<_>>()
        };
        self.running.iter().flat_map(of).collect()
    }
}

/// Starts a server. `behind` is the provider behind a proxy.
#[allow(clippy::disallowed_methods, reason = "starts a provider of models, as its user would")]
pub(crate) fn start(server: Server, behind: Option<&Running>) -> Running {
    let script = match server {
        Server::Aimock => return Fake::start().0,
        Server::LiteLlm => "litellm_proxy.py",
        Server::LlamaCpp => "llama_server.py",
    };
    let mut command = Command::new(python());
    command.arg("-u").arg(Path::new(env!("CARGO_MANIFEST_DIR")).join(script)).env("SERVER_KEY", KEY);
    if let Some(behind) = behind {
        command.env("UPSTREAM", format!("{}/v1", behind.url));
    }
    Running::start(&mut command)
}

/// The interpreter of the environment that `requirements.txt` is installed in.
fn python() -> PathBuf {
    let venv =
        std::env::var_os("MODEL_SERVERS_VENV").expect("run `cargo xtask test models`, which installs the servers");
    Path::new(&venv).join(if cfg!(windows) { "Scripts/python.exe" } else { "bin/python" })
}
