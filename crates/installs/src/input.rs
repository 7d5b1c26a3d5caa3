//! Inputs of a plan: their kinds, limits and values.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::InputProblem;

/// Maximum number of inputs of a plan. Parsers of registry entries and bundles reject plans with more inputs.
pub const MAX_PLAN_INPUTS: usize = 200;
/// Maximum length of one value of an input, in bytes.
pub const MAX_ENTERED_VALUE_BYTES: usize = 16 * 1024;
/// Maximum number of values of one input.
const MAX_VALUES_PER_INPUT: usize = 100;

/// Kind of value that an input of an install plan accepts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum InputKind {
    /// The input accepts a single line of text.
    Text,
    /// The input accepts a number in decimal notation.
    Number,
    /// The input accepts a boolean, `true` or `false`.
    Boolean,
    /// The input accepts the absolute path of a file.
    File,
    /// The input accepts the absolute path of a folder.
    Folder,
}

/// An input of an install plan, which the user fills in. All texts are from the publisher and untrusted.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub struct PlanInput {
    /// Key of the input, unique within the plan.
    pub key: String,
    /// Display name of the input.
    pub label: String,
    /// Purpose of the input, for display.
    pub description: Option<String>,
    /// Kind of the input's value.
    pub kind: InputKind,
    /// Set if the server can't be installed without a value.
    pub required: bool,
    /// Set if the value is a secret, which is stored in the keychain.
    pub secret: bool,
    /// Set if the user may enter several values for the input.
    pub multiple: bool,
    /// Default values of the input, used if the user enters none.
    pub default: Vec<String>,
    /// Values that the user can choose from. Empty if any value is allowed.
    pub choices: Vec<String>,
    /// Example of a value, which the page shows while the field is empty.
    pub placeholder: Option<String>,
    /// Smallest allowed value of a number, or `None` if unbounded.
    pub min: Option<f64>,
    /// Largest allowed value of a number, or `None` if unbounded.
    pub max: Option<f64>,
}

// Numbers of a description are parsed from JSON, which has no NaN.
impl Eq for PlanInput {}

/// Values that the user entered, by the key of the input. For a missing key, the default of the input applies.
pub type InputValues = BTreeMap<String, Vec<String>>;

impl PlanInput {
    /// Creates an optional text input with this key.
    #[must_use]
    pub fn text(key: &str) -> Self {
        Self {
            key: key.to_owned(),
            label: key.to_owned(),
            description: None,
            kind: InputKind::Text,
            required: false,
            secret: false,
            multiple: false,
            default: Vec::new(),
            choices: Vec::new(),
            placeholder: None,
            min: None,
            max: None,
        }
    }

    /// Returns the reason why the default value is not a valid value of this input, or `None` if it is. Parsers of
    /// registry entries and bundles remove invalid default values.
    #[must_use]
    pub fn default_problem(&self) -> Option<InputProblem> {
        if self.default.is_empty() { None } else { self.problem(&self.default) }
    }

    /// Returns the reason why the input rejects these values, or `None` if it accepts them.
    pub(crate) fn problem(&self, values: &[String]) -> Option<InputProblem> {
        if values.is_empty() {
            return self.required.then_some(InputProblem::Missing);
        }
        if values.len() > if self.multiple { MAX_VALUES_PER_INPUT } else { 1 } {
            return Some(InputProblem::TooMany);
        }
        values.iter().find_map(|value| self.value_problem(value))
    }

    fn value_problem(&self, value: &str) -> Option<InputProblem> {
        if value.len() > MAX_ENTERED_VALUE_BYTES || value.chars().any(|c| c.is_control()) {
            return Some(InputProblem::NotText);
        }
        if !self.choices.is_empty() && !self.choices.iter().any(|choice| choice == value) {
            return Some(InputProblem::NotAChoice);
        }
        match self.kind {
            InputKind::Text => None,
            InputKind::Number => {
                let number = value.parse::<f64>().ok().filter(|number| number.is_finite());
                let Some(number) = number else { return Some(InputProblem::NotANumber) };
                let is_outside = self.min.is_some_and(|min| number < min) || self.max.is_some_and(|max| number > max);
                is_outside.then_some(InputProblem::OutOfRange)
            }
            InputKind::Boolean => (!matches!(value, "true" | "false")).then_some(InputProblem::NotABoolean),
            InputKind::File | InputKind::Folder => {
                (!std::path::Path::new(value).is_absolute()).then_some(InputProblem::NotAPath)
            }
        }
    }
}

/// Values by which the inputs in templates are replaced, by key: those that the user entered, or else the defaults.
/// Empty values count as missing.
pub(crate) struct SubstitutionValues<'v>(BTreeMap<&'v str, Vec<&'v str>>);

impl<'v> SubstitutionValues<'v> {
    pub(crate) fn new(inputs: &'v [PlanInput], values: &'v InputValues) -> Self {
        let of = |input: &'v PlanInput| {
            let values = values.get(&input.key).unwrap_or(&input.default);
            (input.key.as_str(), values.iter().map(String::as_str).filter(|value| !value.is_empty()).collect())
        };
        Self(inputs.iter().map(of).collect())
    }

    /// Returns all values of the input with this key. Empty if the input has no value.
    pub(crate) fn values(&self, key: &str) -> &[&'v str] {
        self.0.get(key).map_or(&[], Vec::as_slice)
    }

    /// Returns the value of an input for the repetition with the index `repetition`: the value with this index, or the
    /// last value if there are fewer. Returns `None` if the input has no value.
    pub(crate) fn value_at(&self, key: &str, repetition: usize) -> Option<&'v str> {
        let values = self.values(key);
        values.get(repetition).or(values.last()).copied()
    }
}
