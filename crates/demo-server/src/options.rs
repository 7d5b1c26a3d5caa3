//! Command line options: the era and the revisions that the server supports.

use std::borrow::Cow;

use clap::{Parser, ValueEnum};
use rmcp::model::ProtocolVersion;

/// A small MCP server about a harbour that shows every feature a host can encounter.
#[derive(Debug, Clone, Parser)]
#[command(version)]
pub(crate) struct DemoServerOptions {
    /// Era to support: sessions opened by `initialize`, stateless requests, or the one that the host chooses.
    #[arg(long, value_enum, default_value_t = ProtocolMode::Both)]
    pub(crate) era: ProtocolMode,
    /// The only revision to support, for example 2025-06-18. Determines the era.
    #[arg(long, value_parser = parse_known_revision)]
    pub(crate) revision: Option<ProtocolVersion>,
    /// Serve Streamable HTTP at /mcp on this port of 127.0.0.1 instead of standard input and output, or on any free
    /// port if it is 0. The address is printed first.
    #[arg(long, value_name = "PORT")]
    pub(crate) http: Option<u16>,
}

/// Era of the MCP protocol: revisions with sessions, or revisions with stateless requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ProtocolMode {
    /// 2024-11-05 to 2025-11-25: sessions opened by `initialize`. `server/discover` is an unknown method.
    Legacy,
    /// 2026-07-28: `server/discover` and no session. `initialize` is rejected.
    Modern,
    /// The era of the host's first request.
    Both,
}

impl DemoServerOptions {
    /// Returns the era to support, according to the options `era` and `revision`.
    pub(crate) fn protocol_mode(&self) -> ProtocolMode {
        match &self.revision {
            Some(revision) if revision.has_initialize() => ProtocolMode::Legacy,
            Some(_) => ProtocolMode::Modern,
            None => self.era,
        }
    }

    /// Returns the protocol revisions to support, according to the options `era` and `revision`.
    pub(crate) fn revisions(&self) -> Cow<'static, [ProtocolVersion]> {
        match (&self.revision, self.protocol_mode()) {
            (Some(revision), _) => Cow::Owned(vec![revision.clone()]),
            (None, ProtocolMode::Legacy) => {
                Cow::Borrowed(ProtocolVersion::known_up_to(&ProtocolVersion::LATEST_WITH_INITIALIZE))
            }
            (None, ProtocolMode::Modern) => Cow::Owned(vec![ProtocolVersion::V_2026_07_28]),
            (None, ProtocolMode::Both) => Cow::Borrowed(ProtocolVersion::KNOWN_VERSIONS),
        }
    }
}

fn parse_known_revision(text: &str) -> Result<ProtocolVersion, String> {
    ProtocolVersion::KNOWN_VERSIONS.iter().find(|version| version.as_str() == text).cloned().ok_or_else(|| {
        let known: Vec<_> = ProtocolVersion::KNOWN_VERSIONS.iter().map(ProtocolVersion::as_str).collect();
        format!("expected one of {}", known.join(", "))
    })
}
