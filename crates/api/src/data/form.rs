//! Validation of the content of forms (elicitation).

use serde::{Deserialize, Serialize};
use serde_json::Value;
use ts_rs::TS;

use super::FormProblem;

/// Request to validate the content of a form.
#[derive(Debug, Clone, PartialEq, Deserialize, TS)]
pub struct ValidateForm {
    /// Identifier of the consent request that contains the form.
    pub id: String,
    /// Content of the form as a JSON object.
    pub content: Value,
}

/// Validation errors of a form's content. Empty if the content can be sent.
#[derive(Debug, Clone, Default, PartialEq, Serialize, TS)]
pub struct FormProblems {
    /// Validation errors by field, in the order of the form.
    pub problems: Vec<FormProblem>,
}
