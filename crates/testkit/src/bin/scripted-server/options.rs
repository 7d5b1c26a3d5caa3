//! Command line of the scripted server.

use std::path::PathBuf;

use serde_json::Value;

use crate::misbehaviour::{MISBEHAVIOURS, Misbehaviour};

pub(crate) struct ScriptedServerOptions {
    pub(crate) revision: String,
    pub(crate) probe: DiscoverReaction,
    pub(crate) rules: Vec<MisbehaviourRule>,
    pub(crate) replies: Vec<ScriptedReply>,
    pub(crate) record: Option<PathBuf>,
    pub(crate) count: Option<usize>,
    pub(crate) bytes: Option<usize>,
}

/// Reaction to `server/discover` of a server whose revision does not have this request.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum DiscoverReaction {
    Error,
    Silence,
    Exit,
}

pub(crate) struct MisbehaviourRule {
    pub(crate) misbehaviour: &'static Misbehaviour,
    pub(crate) method: String,
}

pub(crate) struct ScriptedReply {
    pub(crate) method: String,
    pub(crate) what: ReplyContent,
}

#[derive(Clone)]
pub(crate) enum ReplyContent {
    Result(Value),
    Line(String),
}

impl ScriptedServerOptions {
    pub(crate) fn parse(arguments: &[String]) -> Result<ScriptedServerOptions, String> {
        let mut options = ScriptedServerOptions {
            revision: "2025-11-25".to_owned(),
            probe: DiscoverReaction::Error,
            rules: Vec::new(),
            replies: Vec::new(),
            record: None,
            count: None,
            bytes: None,
        };
        let mut arguments = arguments.iter();
        while let Some(name) = arguments.next() {
            let value = arguments.next().ok_or_else(|| format!("{name} needs a value"))?;
            match name.as_str() {
                "--revision" => options.revision.clone_from(value),
                "--probe" => {
                    options.probe = match value.as_str() {
                        "error" => DiscoverReaction::Error,
                        "silence" => DiscoverReaction::Silence,
                        "exit" => DiscoverReaction::Exit,
                        _ => return Err(format!("--probe cannot be {value}")),
                    }
                }
                "--misbehave" => options.rules.push(parse_misbehaviour_rule(value)?),
                "--reply" => {
                    let (method, json) = parse_method_and_value(value)?;
                    let result = serde_json::from_str(&option_value_or_file_content(json)?)
                        .map_err(|error| format!("--reply {method}: {error}"))?;
                    options
                        .replies
                        .push(ScriptedReply { method: method.to_owned(), what: ReplyContent::Result(result) });
                }
                "--raw" => {
                    let (method, line) = parse_method_and_value(value)?;
                    options.replies.push(ScriptedReply {
                        method: method.to_owned(),
                        what: ReplyContent::Line(option_value_or_file_content(line)?),
                    });
                }
                "--record" => options.record = Some(value.into()),
                "--count" => options.count = Some(parse_number(value)?),
                "--bytes" => options.bytes = Some(parse_number(value)?),
                "--forbidden-url" => testkit::forbidden_url::set_forbidden_url(value),
                _ => return Err(format!("unknown option {name}; see --list")),
            }
        }
        Ok(options)
    }
}

fn parse_misbehaviour_rule(value: &str) -> Result<MisbehaviourRule, String> {
    let (name, method) = value.split_once('@').map_or((value, None), |(name, method)| (name, Some(method)));
    let misbehaviour = MISBEHAVIOURS
        .iter()
        .find(|misbehaviour| misbehaviour.name == name)
        .ok_or_else(|| format!("no misbehaviour is named {name}; see --list"))?;
    Ok(MisbehaviourRule { misbehaviour, method: method.unwrap_or(misbehaviour.on).to_owned() })
}

fn parse_method_and_value(value: &str) -> Result<(&str, &str), String> {
    value.split_once('=').ok_or_else(|| format!("{value} is not METHOD=VALUE"))
}

/// Returns the value, or the content of the file if the value is `@FILE`, since the length of command line arguments is
/// limited.
fn option_value_or_file_content(value: &str) -> Result<String, String> {
    match value.strip_prefix('@') {
        Some(path) => std::fs::read_to_string(path).map_err(|error| format!("{path}: {error}")),
        None => Ok(value.to_owned()),
    }
}

fn parse_number(value: &str) -> Result<usize, String> {
    value.parse().map_err(|_| format!("{value} is no number"))
}
