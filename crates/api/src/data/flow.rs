//! How content of one server flows on.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use ts_rs::TS;

/// What the user set for the content of one server.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct DataFlow {
    /// After which content a model's call of the same server asks.
    pub same_server: SameServer,
    /// Which results the user reviews before a model reads them.
    pub review: ResultReview,
    /// The same for single tools, by name; at most 1,000.
    pub tools: BTreeMap<String, ResultReview>,
}

/// Which results of a model's calls the user reviews before the model reads them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum ResultReview {
    /// None.
    Off,
    /// Those with hidden characters, instructions to the model, or links that mislead.
    Suspicious,
    /// All.
    Always,
}

/// After which content of a server a model's call of the same server asks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum SameServer {
    /// After prompts, resources, the output of tools that say they reach an open world, and all output of remote servers.
    OpenWorld,
    /// After anything that was read.
    Everything,
    /// After nothing.
    Off,
}

/// What is set for a server.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct SetDataFlow {
    /// The server.
    pub server: String,
    /// What is set.
    pub flow: DataFlow,
}

/// Content of a server that a model has read in a conversation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct Reading {
    /// Which kind of content.
    pub kind: ReadingKind,
    /// The tool, the prompt, or the resource's URI; empty if unknown.
    pub name: String,
}

/// Kinds of content.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum ReadingKind {
    /// The output of a tool.
    Tool,
    /// A prompt's messages.
    Prompt,
    /// A resource's contents.
    Resource,
    /// Unknown: an older version wrote the conversation.
    Unknown,
}
