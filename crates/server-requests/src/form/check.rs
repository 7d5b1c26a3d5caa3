//! Validation of the values that the user entered in an elicitation form, before they are sent.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::{FieldKind, Form, FormField, TextFormat, formats};

/// Validation error for the value of one field in an elicitation form.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct FormProblem {
    /// Name of the invalid field.
    pub field: String,
    /// Reason why the value of the field is invalid.
    pub problem: FieldProblem,
    /// Minimum or maximum that the value violates, or `None` for errors without a bound.
    pub limit: Option<f64>,
}

/// Reason why the value of a form field is invalid.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum FieldProblem {
    /// A required field is missing or empty.
    Required,
    /// The JSON type of the value is not that of the field.
    WrongType,
    /// The text is shorter than `minLength`.
    TooShort,
    /// The text is longer than `maxLength`.
    TooLong,
    /// The number is below `minimum`.
    TooSmall,
    /// The number is above `maximum`.
    TooLarge,
    /// Fewer options are selected than `minItems` requires.
    TooFew,
    /// More options are selected than `maxItems` allows.
    TooMany,
    /// The value is not one of the options.
    NotAnOption,
    /// The text is not a valid e-mail address.
    NotAnEmail,
    /// The text is not a valid URI.
    NotAUri,
    /// The text is not a valid date (`date` of JSON Schema).
    NotADate,
    /// The text is not a valid date and time (`date-time` of JSON Schema).
    NotADateTime,
    /// The form has no field of this name.
    UnknownField,
}

/// Validation error of a value together with the violated bound, or `None` if the value is valid.
type ProblemWithLimit = Option<(FieldProblem, Option<f64>)>;

impl Form {
    /// Returns the validation errors of the entered values. Empty if the content can be submitted.
    ///
    /// # Examples
    ///
    /// ```
    /// use serde_json::{Value, json};
    /// use server_requests::form::{FieldProblem, Form};
    ///
    /// let form = Form::parse(&json!({
    ///     "type": "object",
    ///     "properties": {
    ///         "branch": { "type": "string", "minLength": 1 },
    ///         "depth": { "type": "integer", "minimum": 1, "maximum": 50 },
    ///         "notify": { "type": "string", "format": "email" }
    ///     },
    ///     "required": ["branch"]
    /// }))?;
    /// let problems = |content: Value| {
    ///     let Value::Object(content) = content else { unreachable!() };
    ///     let found = form.validation_problems(&content);
    ///     found.into_iter().map(|one| (one.field, one.problem, one.limit)).collect::<Vec<_>>()
    /// };
    /// assert_eq!(problems(json!({ "branch": "main", "depth": 10 })), []);
    /// assert_eq!(problems(json!({ "depth": 51, "notify": "nobody" })), [
    ///     ("branch".to_owned(), FieldProblem::Required, None),
    ///     ("depth".to_owned(), FieldProblem::TooLarge, Some(50.0)),
    ///     ("notify".to_owned(), FieldProblem::NotAnEmail, None),
    /// ]);
    /// # Ok::<(), String>(())
    /// ```
    #[must_use]
    pub fn validation_problems(&self, content: &Map<String, Value>) -> Vec<FormProblem> {
        let of_fields = self.fields.iter().filter_map(|field| {
            let found = match content.get(&field.name) {
                Some(value) => field.validation_problem(value),
                None if field.required => Some((FieldProblem::Required, None)),
                None => None,
            };
            found.map(|(problem, limit)| FormProblem { field: field.name.clone(), problem, limit })
        });
        let unknown = content
            .keys()
            .filter(|key| !self.fields.iter().any(|f| f.name == **key))
            .map(|key| FormProblem { field: key.clone(), problem: FieldProblem::UnknownField, limit: None });
        of_fields.chain(unknown).collect()
    }
}

impl FormField {
    pub(super) fn validation_problem(&self, value: &Value) -> ProblemWithLimit {
        match &self.kind {
            FieldKind::Text { format, min_length, max_length } => {
                let Some(text) = value.as_str() else { return wrong_type_problem() };
                if self.required && text.is_empty() && min_length.is_none() {
                    return Some((FieldProblem::Required, None));
                }
                let length = u32::try_from(text.chars().count()).unwrap_or(u32::MAX);
                if let Some(least) = min_length.filter(|least| length < *least) {
                    return Some((FieldProblem::TooShort, Some(least.into())));
                }
                if let Some(most) = max_length.filter(|most| length > *most) {
                    return Some((FieldProblem::TooLong, Some(most.into())));
                }
                format.and_then(|format| format_problem(format, text)).map(|problem| (problem, None))
            }
            FieldKind::Number { integer, minimum, maximum } => {
                let Some(number) = value.as_f64() else { return wrong_type_problem() };
                if *integer && number.fract() != 0.0 {
                    return wrong_type_problem();
                }
                if let Some(least) = minimum.filter(|least| number < *least) {
                    return Some((FieldProblem::TooSmall, Some(least)));
                }
                maximum.filter(|most| number > *most).map(|most| (FieldProblem::TooLarge, Some(most)))
            }
            FieldKind::Boolean => {
                if value.is_boolean() {
                    None
                } else {
                    wrong_type_problem()
                }
            }
            FieldKind::Choice { options } => {
                let Some(text) = value.as_str() else { return wrong_type_problem() };
                if options.iter().any(|o| o.value == text) { None } else { Some((FieldProblem::NotAnOption, None)) }
            }
            FieldKind::Choices { options, min_items, max_items } => {
                let Some(items) = value.as_array() else { return wrong_type_problem() };
                let known = |item: &Value| item.as_str().is_some_and(|text| options.iter().any(|o| o.value == text));
                if !items.iter().all(known) {
                    return Some((FieldProblem::NotAnOption, None));
                }
                let count = u32::try_from(items.len()).unwrap_or(u32::MAX);
                if let Some(least) = min_items.filter(|least| count < *least) {
                    return Some((FieldProblem::TooFew, Some(least.into())));
                }
                max_items.filter(|most| count > *most).map(|most| (FieldProblem::TooMany, Some(most.into())))
            }
        }
    }
}

const fn wrong_type_problem() -> ProblemWithLimit {
    Some((FieldProblem::WrongType, None))
}

fn format_problem(format: TextFormat, text: &str) -> Option<FieldProblem> {
    let (fits, problem) = match format {
        TextFormat::Email => (formats::is_email(text), FieldProblem::NotAnEmail),
        TextFormat::Uri => (formats::is_uri(text), FieldProblem::NotAUri),
        TextFormat::Date => (formats::is_date(text), FieldProblem::NotADate),
        TextFormat::DateTime => (formats::is_date_time(text), FieldProblem::NotADateTime),
    };
    (!fits).then_some(problem)
}
