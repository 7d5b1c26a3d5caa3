//! Forms that servers ask the user to fill in.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use ts_rs::TS;

use super::FormProblem;

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
