//! Elicitation forms: parses the restricted schema that a server sends into fields, and validates what the user
//! entered.
//!
//! Source: `client/elicitation` of 2025-06-18, 2025-11-25 and 2026-07-28. Patterns are never evaluated: no revision's
//! schema has them.

mod check;
mod formats;
mod parse;

pub use check::{FieldProblem, FormProblem};

use domain::REDACTED;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// Maximum number of fields in an elicitation form. Larger forms are rejected.
pub const MAX_FORM_FIELDS: usize = 100;
/// Maximum number of options of one field in an elicitation form.
pub const MAX_FIELD_OPTIONS: usize = 1_000;

/// Form that a server requests with `elicitation/create`.
#[derive(Debug, Clone, PartialEq)]
pub struct Form {
    /// Fields of the form, in the order of the server's schema.
    pub fields: Vec<FormField>,
}

impl Form {
    /// Returns `content` with redacted values for those fields that seem to ask for a secret.
    #[must_use]
    pub fn redact_secret_fields(&self, content: &Map<String, Value>) -> Map<String, Value> {
        let is_secret = |name: &str| self.fields.iter().any(|field| field.secret && field.name == name);
        let public_values = content.iter().map(|(name, value)| {
            let value = if is_secret(name) { REDACTED.into() } else { value.clone() };
            (name.clone(), value)
        });
        public_values.collect()
    }
}

/// A field of an elicitation form.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct FormField {
    /// Name of the field, which is its key in the response.
    pub name: String,
    /// Label of the field, as sent by the server.
    pub title: Option<String>,
    /// Description of the field, as sent by the server.
    pub description: Option<String>,
    /// Set if the field must have a value.
    pub required: bool,
    /// Type and constraints of the value.
    pub kind: FieldKind,
    /// Value with which the form is prefilled, or `None` if the server sent none or an invalid one.
    pub default: Option<Value>,
    /// Set if the field seems to ask for a secret, according to its name, title or description.
    pub secret: bool,
}

/// Type of a form field, with the constraints on its value.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(tag = "type", rename_all = "snake_case", rename_all_fields = "camelCase")]
pub enum FieldKind {
    /// A field that accepts text.
    Text {
        /// Format that the text must have, or `None` for any text.
        format: Option<TextFormat>,
        /// Minimum length in characters, or `None` if unbounded.
        min_length: Option<u32>,
        /// Maximum length in characters, or `None` if unbounded.
        max_length: Option<u32>,
    },
    /// A field that accepts a number.
    Number {
        /// Set if the number must be an integer.
        integer: bool,
        /// Smallest allowed value, or `None` if unbounded.
        minimum: Option<f64>,
        /// Largest allowed value, or `None` if unbounded.
        maximum: Option<f64>,
    },
    /// A field that accepts `true` or `false`.
    Boolean,
    /// A field that accepts exactly one of several options.
    Choice {
        /// Options to select from.
        options: Vec<ChoiceOption>,
    },
    /// A field that accepts several of its options at once.
    Choices {
        /// Options to select from.
        options: Vec<ChoiceOption>,
        /// Minimum number of selected options, or `None` if unbounded.
        min_items: Option<u32>,
        /// Maximum number of selected options, or `None` if unbounded.
        max_items: Option<u32>,
    },
}

/// An option of a form field with choices.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct ChoiceOption {
    /// Value that is sent if the option is selected.
    pub value: String,
    /// Label that the form shows.
    pub title: String,
}

/// Format that the text in a form field must have.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "kebab-case")]
pub enum TextFormat {
    /// The format `email` of JSON Schema.
    Email,
    /// The format `uri` of JSON Schema.
    Uri,
    /// The format `date` of JSON Schema.
    Date,
    /// The format `date-time` of JSON Schema.
    DateTime,
}

impl TextFormat {
    /// Returns the name of the format in JSON Schema.
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
