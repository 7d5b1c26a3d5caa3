//! Conditions under which an entry of the answers file approves a consent request that it matches. The settings
//! determine the command line of a start, and the server determines the names of its tools, so an entry that matches
//! only these does not approve unreviewed items unless a flag of the entry says so.

use api::data::{
    ApprovalScope, ConsentRequest, ConsentRequestBody, ConsentRequestOrigin, DefinitionDiff, Flag, FlagReason,
    ReviewState,
};

use super::ConsentRequestKind;
use crate::consent_request_text::content_read_by_model_text;
use crate::review_marks_text::flag_reason_text;
use crate::terminal_escape::escape_line;

/// Maximum number of changes to a tool's definition that are listed in the message about a denied call.
const MAX_LISTED_CHANGES: usize = 3;

/// Fields of an entry in the answers file that limit which of the matching consent requests it approves.
#[derive(Debug, Clone, Default)]
pub(super) struct AnswersEntryConditions {
    /// Hash of the payload or of the tool definition to which the approval is limited, or `None` if there is no such
    /// limit.
    pub(super) hash: Option<String>,
    /// `true` to also approve calls of tools whose definition is not reviewed, has changed or is flagged.
    pub(super) unreviewed: bool,
    /// `true` to also approve calls by a model that has read output of other servers.
    pub(super) after_untrusted: bool,
    /// `true` to approve starts and connections by their command line or URL alone, without their hash.
    pub(super) command_line_only: bool,
}

/// Reason why no entry of the answers file decides a consent request.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum NoAnswerReason {
    /// No entry matches the consent request. If the definition of the called tool has changed, contains the condition
    /// that it is reviewed.
    #[error("the answers file has no answer for this{}", missing_conditions_suffix(.0))]
    NoEntryMatches(Vec<MissingCondition>),
    /// The patterns of an entry match the consent request, but the entry does not meet these conditions.
    #[error("the answer in the file does not apply: {}", join_missing_conditions(.0))]
    Uncovered(Vec<MissingCondition>),
    /// The patterns of an entry match the consent request, but its hash is another one. Contains the conditions that
    /// the entry would not meet without the hash.
    #[error("the answers file allows another hash: {}", join_missing_conditions(.0))]
    HashDiffers(Vec<MissingCondition>),
}

/// Condition that has to be met before an entry approves the consent request.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum MissingCondition {
    /// The entry needs the hash of the start, or the flag `commandLineOnly`.
    #[error(
        "review everything that would start, then write \"hash\": \"{hash}\" into the answer; \"commandLineOnly\": true would allow \
         any start with this command line, with any package version, variables, folder, sandbox and program"
    )]
    StartHash {
        /// Hash of everything that determines what the server's start executes.
        hash: String,
    },
    /// The entry needs the hash of the connection, or the flag `commandLineOnly`.
    #[error(
        "review the connection, then write \"hash\": \"{hash}\" into the answer; \"commandLineOnly\": true would \
         allow any connection to this address, with any headers and sign-in"
    )]
    ConnectHash {
        /// Hash of everything that determines the connection to the server.
        hash: String,
    },
    /// The user has to review the tool's definition, or the entry needs its hash or the flag `unreviewed`.
    #[error(
        "{state}; review it with \"drawbridge-cli review {server}\" and accept it there, or write \"hash\": \"{hash}\" into the \
         answer; \"unreviewed\": true would allow any definition of it"
    )]
    Review {
        /// Description of the tool's review state.
        state: String,
        /// Name of the server that has the tool.
        server: String,
        /// Hash of the tool's definition.
        hash: String,
    },
    /// The entry needs the hash of a sign-in without a browser, in which a server gets additional scopes or other
    /// endpoints.
    #[error("review the scopes and endpoints, then write \"hash\": \"{hash}\" into the answer")]
    SignInHash {
        /// Hash of the scopes and endpoints of the sign-in.
        hash: String,
    },
    /// The entry needs the hash of a tool result with suspicious content, such as hidden characters.
    #[error("the result {state}; review it, then write \"hash\": \"{hash}\" into the answer")]
    ResultHash {
        /// Description of the suspicious content.
        state: String,
        /// Hash of the result that a model would read.
        hash: String,
    },
    /// The entry needs the hash of the payload, because a rule or the tool requires a decision on each call.
    #[error(
        "a rule or the tool requires approval each time; review it, then write \"hash\": \"{hash}\" into the answer"
    )]
    EachTime {
        /// Hash of the exact payload, so that other arguments of the tool need another hash.
        hash: String,
    },
    /// The entry needs the flag `afterUntrusted`, because output of other servers may have caused the call.
    #[error(
        "a model requests it after it has read output of {after}, which may have caused the request; only an answer with \
         \"afterUntrusted\": true allows that"
    )]
    AfterUntrusted {
        /// Names of the servers whose output the model has read.
        after: String,
    },
}

fn join_missing_conditions(lacks: &[MissingCondition]) -> String {
    lacks.iter().map(ToString::to_string).collect::<Vec<_>>().join("; and ")
}

fn missing_conditions_suffix(lacks: &[MissingCondition]) -> String {
    if lacks.is_empty() { String::new() } else { format!(": {}", join_missing_conditions(lacks)) }
}

impl AnswersEntryConditions {
    /// Returns `true` if the entry has no hash, or if its hash equals that of the payload or of the called tool's
    /// definition.
    pub(super) fn matches_hash(&self, request: &ConsentRequest) -> bool {
        self.hash.as_deref().is_none_or(|hash| hash == request.hash || Some(hash) == definition_hash(request))
    }

    /// Returns the conditions that the entry does not meet, so that it can't approve this consent request. Empty if it
    /// can.
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
                lacks.extend(missing_review_condition(request).filter(|_| self.hash.is_none() && !self.unreviewed));
                lacks.extend(untrusted_content_condition(request).filter(|_| !self.after_untrusted));
            }
            ConsentRequestBody::Result { .. } if !names_act && !request.marks.flags.is_empty() => {
                lacks.push(MissingCondition::ResultHash {
                    state: definition_flags_text(&request.marks.flags),
                    hash: request.hash.clone(),
                });
            }
            // A sign-in without a browser shows only the scopes and endpoints for approval.
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

/// Returns the condition that the user reviews the called tool, if its definition has changed since the last review,
/// and otherwise no condition. Used for a consent request that no entry matches.
pub(super) fn changed_definition_conditions(request: &ConsentRequest) -> Vec<MissingCondition> {
    missing_review_condition(request)
        .filter(|_| request.marks.review == Some(ReviewState::Changed))
        .into_iter()
        .collect()
}

/// Describes how the called tool has changed since its review, and how the user can review it. Returns `None` if the
/// consent request is not for a call of a tool that has changed.
pub(crate) fn describe_changed_tool(request: &ConsentRequest) -> Option<String> {
    let server = escape_line(&request.server);
    let state = missing_review_condition(request).filter(|_| request.marks.review == Some(ReviewState::Changed))?;
    let MissingCondition::Review { state, .. } = state else { return None };
    Some(format!("{state}; review it with \"drawbridge-cli review {server}\""))
}

fn requires_decision_each_time(request: &ConsentRequest) -> bool {
    // The rule of the consent request may be another one, such as the rule for new definitions.
    matches!(&request.body, ConsentRequestBody::Tool { claims, .. } if claims.asks_each_time)
        || request.stricter_reason.is_some()
}

/// Returns the hash of the called tool's definition, or `None` if the consent request is not for a tool call.
pub(crate) fn definition_hash(request: &ConsentRequest) -> Option<&str> {
    match &request.body {
        ConsentRequestBody::Tool { definition_hash, .. } => definition_hash.as_deref(),
        _ => None,
    }
}

fn missing_review_condition(request: &ConsentRequest) -> Option<MissingCondition> {
    let ConsentRequestBody::Tool { .. } = request.body else { return None };
    let state = match request.marks.review {
        Some(ReviewState::Changed) => describe_definition_change(request.marks.diff.as_ref()),
        Some(ReviewState::Reviewed) if request.marks.outdated => {
            String::from("the server reported that its list of tools changed, and it was not read again yet")
        }
        Some(ReviewState::Reviewed) if request.marks.flags.is_empty() => return None,
        Some(ReviewState::Reviewed) => {
            format!("its definition has a warning: it {}", definition_flags_text(&request.marks.flags))
        }
        Some(ReviewState::New) | None if request.marks.flags.is_empty() => {
            String::from("its definition is not reviewed")
        }
        Some(ReviewState::New) | None => {
            format!("its definition is not reviewed, which {}", definition_flags_text(&request.marks.flags))
        }
    };
    let hash = definition_hash(request).unwrap_or(&request.hash).to_owned();
    Some(MissingCondition::Review { state, server: escape_line(&request.server), hash })
}

/// Returns a short description of the changes to a definition since it was reviewed.
fn describe_definition_change(diff: Option<&DefinitionDiff>) -> String {
    let Some(diff) = diff else { return String::from("its definition changed since it was reviewed") };
    if diff.changes.is_empty() && diff.server_changed {
        return String::from("the server itself changed since its definition was reviewed");
    }
    let whole = || String::from("all of it");
    let place = |path: &[String]| if path.is_empty() { whole() } else { escape_line(&path.join(" > ")) };
    let places: Vec<String> = diff.changes.iter().take(MAX_LISTED_CHANGES).map(|change| place(&change.path)).collect();
    let left = diff.changes.len() - places.len() + diff.more;
    let more = if left > 0 { format!(" and {left} more") } else { String::new() };
    format!("its definition changed since it was reviewed ({}{more})", places.join(", "))
}

fn definition_flags_text(flags: &[Flag]) -> String {
    let mut reasons: Vec<FlagReason> = flags.iter().map(|flag| flag.reason).collect();
    reasons.dedup();
    reasons.into_iter().map(flag_reason_text).collect::<Vec<_>>().join(", ")
}

/// Returns the condition for calls by a model that may have read output of other servers, or `None` if the call is not
/// one of these.
fn untrusted_content_condition(request: &ConsentRequest) -> Option<MissingCondition> {
    let ConsentRequestOrigin::Model { untrusted_servers: after, same_server_readings: read, .. } = &request.origin
    else {
        return None;
    };
    // Without a rule that requires a decision for each act, an approval that is limited to one call means that the
    // conversation contains, or may contain, output of other servers.
    let may_be = request.reason == "after-untrusted"
        || (request.scopes == [ApprovalScope::Once]
            && !requires_decision_each_time(request)
            && ConsentRequestKind::of_request(request) == ConsentRequestKind::Tool);
    let after = match (after.as_slice(), read.as_slice()) {
        ([], []) if !may_be => return None,
        ([], []) => String::from("unknown servers"),
        ([], read) => {
            let read: Vec<String> = read.iter().map(content_read_by_model_text).collect();
            format!("{} itself ({})", escape_line(&request.server), read.join(", "))
        }
        (servers, _) => escape_line(&servers.join(", ")),
    };
    Some(MissingCondition::AfterUntrusted { after })
}
