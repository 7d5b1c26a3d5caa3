//! The command line: which era and which revisions the server admits to.

use std::borrow::Cow;

use clap::{Parser, ValueEnum};
use rmcp::model::ProtocolVersion;

/// A small MCP server about a harbour that shows everything a host can meet.
#[derive(Debug, Clone, Parser)]
#[command(version)]
pub(crate) struct Options {
    /// The era to speak: sessions that open with `initialize`, stateless requests, or what the
    /// host asks for.
    #[arg(long, value_enum, default_value_t = Era::Both)]
    pub(crate) era: Era,
    /// Speak this revision only, for example 2025-06-18. It decides the era.
    #[arg(long, value_parser = known_revision)]
    pub(crate) revision: Option<ProtocolVersion>,
    /// Serve Streamable HTTP at /mcp on this port of 127.0.0.1 instead of standard input and
    /// output; 0 takes any. The address is printed first.
    #[arg(long, value_name = "PORT")]
    pub(crate) http: Option<u16>,
}

/// The two ways of MCP to hold a conversation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Era {
    /// 2024-11-05 to 2025-11-25: `initialize` first; `server/discover` is an unknown method.
    Legacy,
    /// 2026-07-28: `server/discover`, no session; `initialize` is refused.
    Modern,
    /// Whatever the host opens with.
    Both,
}

impl Options {
    /// The era that the two options together ask for.
    pub(crate) fn era(&self) -> Era {
        match &self.revision {
            Some(revision) if revision.has_initialize() => Era::Legacy,
            Some(_) => Era::Modern,
            None => self.era,
        }
    }

    /// The revisions that the server answers to.
    pub(crate) fn revisions(&self) -> Cow<'static, [ProtocolVersion]> {
        match (&self.revision, self.era()) {
            (Some(revision), _) => Cow::Owned(vec![revision.clone()]),
            (None, Era::Legacy) => {
                Cow::Borrowed(ProtocolVersion::known_up_to(&ProtocolVersion::LATEST_WITH_INITIALIZE))
            }
            (None, Era::Modern) => Cow::Owned(vec![ProtocolVersion::V_2026_07_28]),
            (None, Era::Both) => Cow::Borrowed(ProtocolVersion::KNOWN_VERSIONS),
        }
    }
}

fn known_revision(text: &str) -> Result<ProtocolVersion, String> {
    ProtocolVersion::KNOWN_VERSIONS.iter().find(|version| version.as_str() == text).cloned().ok_or_else(|| {
        let known: Vec<_> = ProtocolVersion::KNOWN_VERSIONS.iter().map(ProtocolVersion::as_str).collect();
        format!("expected one of {}", known.join(", "))
    })
}
