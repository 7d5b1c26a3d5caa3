//! Reads untrusted JSON metadata within bounds. An invalid member is recorded as a fault instead of causing an error,
//! so that the tool and the valid members remain usable.

use std::fmt;

use mcp_proto::types::Map;
use serde_json::Value;

use crate::resource_uri::UiUriProblem;
use crate::text::{UntrustedTextExcerpt, truncated};

/// Maximum number of faults that are recorded for the metadata of one tool or page. Further ones are not recorded.
pub const MAX_METADATA_FAULTS: usize = 32;

/// Maximum length in bytes of a member's name in [`MetadataFault::path`].
const MAX_MEMBER_NAME_BYTES: usize = 64;

/// A member of the metadata that is ignored, or that is read although its form is wrong.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{path} {problem}")]
pub struct MetadataFault {
    /// Path of the invalid member, such as `_meta.ui.csp.connectDomains[3]`. Hidden characters are escaped.
    pub path: String,
    /// Reason why the member is ignored, or the deviation with which it was read.
    pub problem: MetadataProblem,
}

/// Deviation of a metadata member from the specification, because of which it is ignored or read differently.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum MetadataProblem {
    /// The value has another JSON type than the specification demands.
    #[error("is not {expected}")]
    WrongType {
        /// Required JSON type, such as `a string`.
        expected: &'static str,
    },
    /// The member should contain the URI of an app page, but its value is not such a URI.
    #[error("{reason}: {value}")]
    NotAPage {
        /// Reason why the value is not the URI of an app page.
        reason: UiUriProblem,
        /// Beginning of the invalid value.
        value: UntrustedTextExcerpt,
    },
    /// The text is longer than this number of bytes.
    #[error("is longer than {0} bytes")]
    TooLong(usize),
    /// The list has more entries than this number. Only the first ones are used.
    #[error("has more than {0} entries")]
    TooMany(usize),
    /// The specification does not define this name or value.
    #[error("is unknown: {0}")]
    Unknown(UntrustedTextExcerpt),
    /// The member belongs into the metadata of the app page, and is ignored in that of a tool.
    #[error("has no effect on a tool, only on its page")]
    Misplaced,
    /// The metadata is in the member `meta` instead of `_meta`. It is used.
    #[error("is named `meta` instead of `_meta`")]
    MisnamedMember,
    /// The value is a single text instead of a list of texts. It is used.
    #[error("is one text instead of a list")]
    NotAList,
    /// The deprecated and the current member contain the URIs of different pages. The current one is used.
    #[error("differs from `_meta.ui.resourceUri`, which is used")]
    Contradicting,
}

/// Reader of one item's metadata, which records faults.
#[derive(Debug)]
pub(super) struct BoundedMetadataReader {
    faults: Vec<MetadataFault>,
}

impl BoundedMetadataReader {
    pub(super) const fn new() -> Self {
        Self { faults: Vec::new() }
    }

    pub(super) fn into_faults(self) -> Vec<MetadataFault> {
        self.faults
    }

    pub(super) fn report(&mut self, path: impl fmt::Display, problem: MetadataProblem) {
        if self.faults.len() < MAX_METADATA_FAULTS {
            self.faults.push(MetadataFault { path: path.to_string(), problem });
        }
    }

    /// Reads a value that should be an object. `null` counts as absent. Records a fault for any other value.
    pub(super) fn read_object<'a>(&mut self, path: &str, value: Option<&'a Value>) -> Option<&'a Map> {
        match value? {
            Value::Object(object) => Some(object),
            Value::Null => None,
            _ => {
                self.report(path, MetadataProblem::WrongType { expected: "an object" });
                None
            }
        }
    }

    /// Reads a value that should be a text of at most `limit` bytes. `null` counts as absent. Records a fault for any
    /// other value.
    pub(super) fn read_text<'a>(&mut self, path: &str, value: Option<&'a Value>, limit: usize) -> Option<&'a str> {
        match value? {
            Value::String(text) if text.len() <= limit => Some(text),
            Value::Null => None,
            Value::String(_) => {
                self.report(path, MetadataProblem::TooLong(limit));
                None
            }
            _ => {
                self.report(path, MetadataProblem::WrongType { expected: "a string" });
                None
            }
        }
    }

    /// Reads a value that should be a Boolean. `null` counts as absent. Records a fault for any other value.
    pub(super) fn read_boolean(&mut self, path: &str, value: Option<&Value>) -> Option<bool> {
        match value? {
            Value::Bool(flag) => Some(*flag),
            Value::Null => None,
            _ => {
                self.report(path, MetadataProblem::WrongType { expected: "a Boolean" });
                None
            }
        }
    }

    /// Reads the first `count` texts of a list, each of at most `limit` bytes. A single text counts as a list of one
    /// text.
    pub(super) fn read_text_list(
        &mut self,
        path: &str,
        value: Option<&Value>,
        count: usize,
        limit: usize,
    ) -> Option<Vec<String>> {
        let list = match value? {
            Value::Array(list) => list,
            Value::Null => return None,
            Value::String(_) => {
                self.report(path, MetadataProblem::NotAList);
                return Some(self.read_text(path, value, limit).into_iter().map(str::to_owned).collect());
            }
            _ => {
                self.report(path, MetadataProblem::WrongType { expected: "a list" });
                return None;
            }
        };
        if list.len() > count {
            self.report(path, MetadataProblem::TooMany(count));
        }
        let mut texts = Vec::new();
        for (index, entry) in list.iter().take(count).enumerate() {
            match entry {
                Value::Null => {
                    self.report(format!("{path}[{index}]"), MetadataProblem::WrongType { expected: "a string" });
                }
                entry => {
                    texts.extend(self.read_text(&format!("{path}[{index}]"), Some(entry), limit).map(str::to_owned))
                }
            }
        }
        Some(texts)
    }

    /// Records a fault for each member of an object that is not in `known`.
    pub(super) fn report_unknown_members(&mut self, path: &str, object: &Map, known: &[&str]) {
        for name in object.keys().filter(|name| !known.contains(&name.as_str())).take(MAX_METADATA_FAULTS) {
            self.report(
                path,
                MetadataProblem::Unknown(UntrustedTextExcerpt::of(truncated(name, MAX_MEMBER_NAME_BYTES))),
            );
        }
    }
}
