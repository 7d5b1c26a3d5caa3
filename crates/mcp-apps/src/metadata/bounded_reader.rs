//! Reads untrusted metadata within bounds. A fault is recorded instead of an error, so that one wrong member hides
//! neither the tool nor the rest.

use std::fmt;

use mcp_proto::types::Map;
use serde_json::Value;

use crate::resource_uri::UriProblem;
use crate::text::{Excerpt, truncated};

/// Maximum number of faults that are listed for one tool or page. Further ones are not listed.
pub const MAX_METADATA_FAULTS: usize = 32;

/// Maximum length of a member's name in a path, in bytes.
const MAX_NAME_BYTES: usize = 64;

/// A part of the metadata that is ignored, or read in spite of its form.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{path} {problem}")]
pub struct MetadataFault {
    /// Path of the member, such as `_meta.ui.csp.connectDomains[3]`. Hidden characters are escaped.
    pub path: String,
    /// Reason why the member is ignored, or how it was read.
    pub problem: MetadataProblem,
}

/// Reason why a member of the metadata is ignored.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum MetadataProblem {
    /// The value has another JSON type than the specification demands.
    #[error("is not {expected}")]
    WrongType {
        /// Required type, such as `a string`.
        expected: &'static str,
    },
    /// The value of a page's URI is not the URI of a page.
    #[error("{reason}: {value}")]
    NotAPage {
        /// Reason why the value is not the URI of a page.
        reason: UriProblem,
        /// Beginning of the value.
        value: Excerpt,
    },
    /// The text is longer than this number of bytes.
    #[error("is longer than {0} bytes")]
    TooLong(usize),
    /// The list has more entries than this number. The first ones are used.
    #[error("has more than {0} entries")]
    TooMany(usize),
    /// The specification does not define this name or value.
    #[error("is unknown: {0}")]
    Unknown(Excerpt),
    /// The member belongs into the metadata of the page. It is ignored in that of a tool.
    #[error("has no effect on a tool, only on its page")]
    Misplaced,
    /// The metadata was found in `meta` instead of `_meta`, and is used.
    #[error("is named `meta` instead of `_meta`")]
    MisnamedMember,
    /// A single text was found where a list of texts belongs, and is used.
    #[error("is one text instead of a list")]
    NotAList,
    /// The deprecated and the current member name different pages. The current one is used.
    #[error("differs from `_meta.ui.resourceUri`, which is used")]
    Contradicting,
}

/// Position in the metadata, and the faults found so far.
#[derive(Debug)]
pub(super) struct BoundedReader {
    faults: Vec<MetadataFault>,
}

impl BoundedReader {
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

    /// Returns an object. `null` counts as absent.
    pub(super) fn object<'a>(&mut self, path: &str, value: Option<&'a Value>) -> Option<&'a Map> {
        match value? {
            Value::Object(object) => Some(object),
            Value::Null => None,
            _ => {
                self.report(path, MetadataProblem::WrongType { expected: "an object" });
                None
            }
        }
    }

    /// Returns a text of at most `limit` bytes. `null` counts as absent.
    pub(super) fn text<'a>(&mut self, path: &str, value: Option<&'a Value>, limit: usize) -> Option<&'a str> {
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

    /// Returns a Boolean. `null` counts as absent.
    pub(super) fn boolean(&mut self, path: &str, value: Option<&Value>) -> Option<bool> {
        match value? {
            Value::Bool(flag) => Some(*flag),
            Value::Null => None,
            _ => {
                self.report(path, MetadataProblem::WrongType { expected: "a Boolean" });
                None
            }
        }
    }

    /// Returns the first `count` texts of a list, each of at most `limit` bytes. A single text is a list of one.
    pub(super) fn texts(
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
                return Some(self.text(path, value, limit).into_iter().map(str::to_owned).collect());
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
                entry => texts.extend(self.text(&format!("{path}[{index}]"), Some(entry), limit).map(str::to_owned)),
            }
        }
        Some(texts)
    }

    /// Reports the members of an object that are not in `known`.
    pub(super) fn report_unknown(&mut self, path: &str, object: &Map, known: &[&str]) {
        for name in object.keys().filter(|name| !known.contains(&name.as_str())).take(MAX_METADATA_FAULTS) {
            self.report(path, MetadataProblem::Unknown(Excerpt::of(truncated(name, MAX_NAME_BYTES))));
        }
    }
}
