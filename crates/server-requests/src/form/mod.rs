//! Elicitation forms: the restricted schema a server sends, as fields to show, and the check of what the user filled in.
//!
//! Source: client/elicitation of 2025-06-18, 2025-11-25 and 2026-07-28. Patterns are never run: no revision's schema has them.

mod check;
mod formats;
mod parse;

pub use check::{FieldProblem, FormProblem};

use domain::REDACTED;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// The most fields a form may have.
pub const MAX_FIELDS: usize = 100;
/// The most options a field may have.
pub const MAX_OPTIONS: usize = 1_000;

/// A form.
#[derive(Debug, Clone, PartialEq)]
pub struct Form {
    /// Its fields, in the server's order.
    pub fields: Vec<FormField>,
}

impl Form {
    /// What was filled in, without the values of fields that look as if they ask for a secret.
    #[must_use]
    pub fn without_secrets(&self, content: &Map<String, Value>) -> Map<String, Value> {
        let is_secret = |name: &str| self.fields.iter().any(|field| field.secret && field.name == name);
        let kept = content.iter().map(|(name, value)| {
            let value = if is_secret(name) { REDACTED.into() } else { value.clone() };
            (name.clone(), value)
        });
        kept.collect()
    }
}

/// A field of a form.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct FormField {
    /// Its key in the answer.
    pub name: String,
    /// Its label, as the server says.
    pub title: Option<String>,
    /// What it is, as the server says.
    pub description: Option<String>,
    /// Whether it must be filled in.
    pub required: bool,
    /// What it takes.
    pub kind: FieldKind,
    /// What it holds at first; only kept if the field takes it.
    pub default: Option<Value>,
    /// Whether its words look as if it asks for a secret.
    pub secret: bool,
}

/// What a field takes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(tag = "type", rename_all = "snake_case", rename_all_fields = "camelCase")]
pub enum FieldKind {
    /// Text.
    Text {
        /// Its format.
        format: Option<TextFormat>,
        /// In characters.
        min_length: Option<u32>,
        /// In characters.
        max_length: Option<u32>,
    },
    /// A number.
    Number {
        /// Whether it must be whole.
        integer: bool,
        /// The least.
        minimum: Option<f64>,
        /// The most.
        maximum: Option<f64>,
    },
    /// Yes or no.
    Boolean,
    /// One of several.
    Choice {
        /// The options.
        options: Vec<ChoiceOption>,
    },
    /// Some of several.
    Choices {
        /// The options.
        options: Vec<ChoiceOption>,
        /// At least so many.
        min_items: Option<u32>,
        /// At most so many.
        max_items: Option<u32>,
    },
}

/// An option.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct ChoiceOption {
    /// What is sent.
    pub value: String,
    /// What is shown.
    pub title: String,
}

/// The formats that a text field may have.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "kebab-case")]
pub enum TextFormat {
    /// `email`
    Email,
    /// `uri`
    Uri,
    /// `date`
    Date,
    /// `date-time`
    DateTime,
}

impl TextFormat {
    /// As the schema names it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Email => "email",
            Self::Uri => "uri",
            Self::Date => "date",
            Self::DateTime => "date-time",
        }
    }
}
