//! The extent of an entry that allows. The command line of a start and the name of a tool are chosen by others, so by
//! themselves they never allow anything that was not reviewed, unless the entry says so explicitly.

use api::data::{
    ApprovalScope, ConsentRequest, ConsentRequestBody, ConsentRequestOrigin, DefinitionDiff, Flag, FlagReason,
    ReviewState,
};

use super::ConsentRequestKind;
use crate::consent_request_text::reading_text;
use crate::review_marks_text::flag_reason_text;
use crate::terminal_escape::escape_line;

/// Maximum number of changes to a definition that a refusal names.
const MAX_CHANGES: usize = 3;
/// Rules that require a separate decision for each act.
const EACH_TIME_RULES: [&str; 5] =
    ["rule-asks", "preset-asks", "policy-unusable", "managed-unusable", "tool-asks-each-time"];

/// The extent of an entry that allows.
#[derive(Debug, Clone, Default)]
pub(super) struct EntryCoverage {
    /// Hash of the only act, or of the only definition of a tool, that is allowed.
    pub(super) hash: Option<String>,
    /// Set to allow tools whose definition is not reviewed, has changed or is flagged.
    pub(super) unreviewed: bool,
    /// Set to allow calls by a model that has read another server's output.
    pub(super) after_untrusted: bool,
    /// Set to allow starts and connections by their command line or address alone.
    pub(super) command_line_only: bool,
}

/// The reason why no entry decides a consent request.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum UncoveredReason {
    /// No entry matches the consent request.
    #[error("the answers file has no answer for this{}", conditions_suffix(.0))]
    NoneFits(Vec<MissingCondition>),
    /// An entry matches by its patterns, but its extent doesn't cover the consent request.
    #[error("the answer in the file does not apply: {}", list_conditions(.0))]
    Uncovered(Vec<MissingCondition>),
    /// An entry matches by its patterns, but names another hash.
    #[error("the answers file allows another hash: {}", list_conditions(.0))]
    OtherHash(Vec<MissingCondition>),
}

/// Something that an entry would have to contain to allow.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum MissingCondition {
    /// The hash of the start.
    #[error(
        "look at all that would start, then write \"hash\": \"{hash}\" into the answer; \"commandLineOnly\": true would allow \
         whatever your settings start with this command line, with any package version, variables, folder, sandbox and program"
    )]
    StartHash {
        /// Hash over everything that determines what starts.
        hash: String,
    },
    /// The hash of the connection.
    #[error(
        "look at all that would be connected to, then write \"hash\": \"{hash}\" into the answer; \"commandLineOnly\": true would \
         allow whatever has this address, with any headers and sign-in"
    )]
    ConnectHash {
        /// Hash over everything that determines the connection.
        hash: String,
    },
    /// A review of the tool's definition.
    #[error(
        "{state}; review it with \"drawbridge-cli review {server}\" and accept it there, or write \"hash\": \"{hash}\" into the \
         answer; \"unreviewed\": true would allow it whatever it says"
    )]
    Review {
        /// Description of the review state.
        state: String,
        /// Name of the server.
        server: String,
        /// Hash of the definition.
        hash: String,
    },
    /// The hash of a sign-in without a page, by which a server gets more scopes or other endpoints.
    #[error("review the scopes and endpoints, then write \"hash\": \"{hash}\" into the answer")]
    SignInHash {
        /// Hash over everything that the sign-in would grant.
        hash: String,
    },
    /// The hash of a result with flags.
    #[error("the result {state}; review it, then write \"hash\": \"{hash}\" into the answer")]
    ResultHash {
        /// Description of the flags.
        state: String,
        /// Hash over everything that a model would read.
        hash: String,
    },
    /// The hash of the act, because a rule or the tool's definition requires a decision each time.
    #[error(
        "a rule or the tool requires approval each time; review it, then write \"hash\": \"{hash}\" into the answer"
    )]
    EachTime {
        /// Hash over the exact payload.
        hash: String,
    },
    /// Permission for calls that another server's output may have caused.
    #[error(
        "a model asks for it after it has read what {after} said, which may be the reason; only an answer with \
         \"afterUntrusted\": true allows that"
    )]
    AfterUntrusted {
        /// Names of the servers that the output came from.
        after: String,
    },
}

fn list_conditions(lacks: &[MissingCondition]) -> String {
    lacks.iter().map(ToString::to_string).collect::<Vec<_>>().join("; and ")
}

fn conditions_suffix(lacks: &[MissingCondition]) -> String {
    if lacks.is_empty() { String::new() } else { format!(": {}", list_conditions(lacks)) }
}

impl EntryCoverage {
    /// Returns `true` if the entry names no hash, or the hash of this act or of the definition it is about.
    pub(super) fn matches_hash(&self, request: &ConsentRequest) -> bool {
        self.hash.as_deref().is_none_or(|hash| hash == request.hash || Some(hash) == definition_hash(request))
    }

    /// Returns what the entry would have to contain to allow this consent request.
    pub(super) fn missing_conditions(&self, request: &ConsentRequest) -> Vec<MissingCondition> {
        let names_act = self.hash.as_deref() == Some(request.hash.as_str());
        let mut lacks = Vec::new();
        match &request.body {
            ConsentRequestBody::StartServer { .. } if !names_act && !self.command_line_only => {
                lacks.push(MissingCondition::StartHash { hash: request.hash.clone() });
            }
            ConsentRequestBody::ConnectServer { .. } if !names_act && !self.command_line_only => {
                lacks.push(MissingCondition::ConnectHash { hash: request.hash.clone() });
            }
            ConsentRequestBody::Tool { .. } => {
                lacks.extend(review_condition(request).filter(|_| self.hash.is_none() && !self.unreviewed));
                lacks.extend(untrusted_reading_condition(request).filter(|_| !self.after_untrusted));
            }
            ConsentRequestBody::Result { .. } if !names_act && !request.marks.flags.is_empty() => {
                lacks.push(MissingCondition::ResultHash {
                    state: flag_reasons_text(&request.marks.flags),
                    hash: request.hash.clone(),
                });
            }
            // Without a page, only the scopes and endpoints can be approved.
            ConsentRequestBody::SignIn { authorization_url: None, .. } if !names_act => {
                lacks.push(MissingCondition::SignInHash { hash: request.hash.clone() });
            }
            _ => {}
        }
        if requires_decision_each_time(request) && !names_act {
            lacks.push(MissingCondition::EachTime { hash: request.hash.clone() });
        }
        lacks
    }
}

/// Returns what an entry would have to contain for a consent request that matches none, limited to changed definitions.
pub(super) fn changed_definition_conditions(request: &ConsentRequest) -> Vec<MissingCondition> {
    review_condition(request).filter(|_| request.marks.review == Some(ReviewState::Changed)).into_iter().collect()
}

/// Describes how a tool changed since it was reviewed, and how to review it. `None` for anything else.
pub(crate) fn describe_changed_tool(request: &ConsentRequest) -> Option<String> {
    let server = escape_line(&request.server);
    let state = review_condition(request).filter(|_| request.marks.review == Some(ReviewState::Changed))?;
    let MissingCondition::Review { state, .. } = state else { return None };
    Some(format!("{state}; review it with \"drawbridge-cli review {server}\""))
}

fn requires_decision_each_time(request: &ConsentRequest) -> bool {
    // The reason may be another one, such as a new definition.
    matches!(&request.body, ConsentRequestBody::Tool { claims, .. } if claims.asks_each_time)
        || EACH_TIME_RULES.contains(&request.rule.as_str())
}

/// Returns the hash of the definition of the tool that a consent request is about.
pub(crate) fn definition_hash(request: &ConsentRequest) -> Option<&str> {
    match &request.body {
        ConsentRequestBody::Tool { definition_hash, .. } => definition_hash.as_deref(),
        _ => None,
    }
}

fn review_condition(request: &ConsentRequest) -> Option<MissingCondition> {
    let ConsentRequestBody::Tool { .. } = request.body else { return None };
    let state = match request.marks.review {
        Some(ReviewState::Changed) => describe_change(request.marks.diff.as_ref()),
        Some(ReviewState::Reviewed) if request.marks.outdated => {
            String::from("the server reported that its list of tools changed, and it was not read again yet")
        }
        Some(ReviewState::Reviewed) if request.marks.flags.is_empty() => return None,
        Some(ReviewState::Reviewed) => {
            format!("its definition has a warning: it {}", flag_reasons_text(&request.marks.flags))
        }
        Some(ReviewState::New) | None if request.marks.flags.is_empty() => {
            String::from("its definition is not reviewed")
        }
        Some(ReviewState::New) | None => {
            format!("its definition is not reviewed, which {}", flag_reasons_text(&request.marks.flags))
        }
    };
    let hash = definition_hash(request).unwrap_or(&request.hash).to_owned();
    Some(MissingCondition::Review { state, server: escape_line(&request.server), hash })
}

/// Summarizes the changes to a definition since it was reviewed.
fn describe_change(diff: Option<&DefinitionDiff>) -> String {
    let Some(diff) = diff else { return String::from("its definition changed since it was reviewed") };
    if diff.changes.is_empty() && diff.server_changed {
        return String::from("the server itself changed since its definition was reviewed");
    }
    let whole = || String::from("all of it");
    let place = |path: &[String]| if path.is_empty() { whole() } else { escape_line(&path.join(" > ")) };
    let told: Vec<String> = diff.changes.iter().take(MAX_CHANGES).map(|change| place(&change.path)).collect();
    let left = diff.changes.len() - told.len() + diff.more;
    let more = if left > 0 { format!(" and {left} more") } else { String::new() };
    format!("its definition changed since it was reviewed ({}{more})", told.join(", "))
}

fn flag_reasons_text(flags: &[Flag]) -> String {
    let mut reasons: Vec<FlagReason> = flags.iter().map(|flag| flag.reason).collect();
    reasons.dedup();
    reasons.into_iter().map(flag_reason_text).collect::<Vec<_>>().join(", ")
}

/// Returns the servers whose output a model has read before it requested a call.
fn untrusted_reading_condition(request: &ConsentRequest) -> Option<MissingCondition> {
    let ConsentRequestOrigin::Model { after, read, .. } = &request.why else { return None };
    // If no rule requires a decision each time, an approval that is limited to this call means that output of others is
    // in the conversation, or may be.
    let may_be = request.rule == "after-untrusted"
        || (request.scopes == [ApprovalScope::Once]
            && !requires_decision_each_time(request)
            && ConsentRequestKind::of_request(request) == ConsentRequestKind::Tool);
    let after = match (after.as_slice(), read.as_slice()) {
        ([], []) if !may_be => return None,
        ([], []) => String::from("unknown servers"),
        ([], read) => {
            let read: Vec<String> = read.iter().map(reading_text).collect();
            format!("{} itself ({})", escape_line(&request.server), read.join(", "))
        }
        (servers, _) => escape_line(&servers.join(", ")),
    };
    Some(MissingCondition::AfterUntrusted { after })
}
