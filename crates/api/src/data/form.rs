//! Forms that servers ask the user to fill in.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use ts_rs::TS;

/// One field of a form.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
pub struct FormField {
    /// Its key in the answer.
    pub name: String,
    /// Its label, as the server says.
    pub title: Option<String>,
    /// What it is, as the server says.
    pub description: Option<String>,
    /// Whether it must be filled in.
    pub required: bool,
    /// What may be filled in.
    pub kind: FieldKind,
    /// What it holds at first.
    pub default: Option<Value>,
    /// Whether it looks as if it asks for a secret.
    pub secret: bool,
}

/// What a field takes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
#[serde(tag = "type", rename_all = "snake_case", rename_all_fields = "camelCase")]
pub enum FieldKind {
    /// A line of text.
    Text {
        /// `email`, `uri`, `date` or `date-time`.
        format: Option<String>,
        /// In characters.
        min_length: Option<u32>,
        /// In characters.
        max_length: Option<u32>,
    },
    /// A number.
    Number {
        /// Whether only whole numbers are taken.
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

/// One option.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct ChoiceOption {
    /// What is sent.
    pub value: String,
    /// What is shown.
    pub title: String,
}

/// A form's content to be checked.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
pub struct CheckForm {
    /// The question.
    pub id: String,
    /// The content: a JSON object.
    pub content: Value,
}

/// What is wrong with a form's content; empty when it can be sent.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, TS)]
pub struct FormProblems {
    /// By field, in the form's order.
    pub problems: Vec<FormProblem>,
}

/// What is wrong with one field.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
pub struct FormProblem {
    /// The field.
    pub field: String,
    /// What is wrong.
    pub problem: FieldProblem,
    /// The bound that was passed, where there is one.
    pub limit: Option<f64>,
}

/// What can be wrong with a field.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum FieldProblem {
    /// It must be filled in.
    Required,
    /// It holds another type of value.
    WrongType,
    /// The text is too short.
    TooShort,
    /// The text is too long.
    TooLong,
    /// The number is too small.
    TooSmall,
    /// The number is too large.
    TooLarge,
    /// Too few are chosen.
    TooFew,
    /// Too many are chosen.
    TooMany,
    /// It is none of the options.
    NotAnOption,
    /// It is no e-mail address.
    NotAnEmail,
    /// It is no URI.
    NotAUri,
    /// It is no date (`2026-07-28`).
    NotADate,
    /// It is no date and time (RFC 3339).
    NotADateTime,
    /// The form has no such field.
    UnknownField,
}
