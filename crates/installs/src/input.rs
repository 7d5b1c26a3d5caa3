//! What the user fills in: its kinds, its bounds, and the values.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::InputProblem;

/// The most inputs of one plan. Who reads a description refuses one with more.
pub const MAX_INPUTS: usize = 200;
/// The longest value, in bytes.
pub const MAX_VALUE: usize = 16 * 1024;
/// The most values of one input.
const MAX_VALUES: usize = 100;

/// What kind of value an input takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum InputKind {
    /// One line of text.
    Text,
    /// A decimal number.
    Number,
    /// `true` or `false`.
    Boolean,
    /// The absolute path of a file.
    File,
    /// The absolute path of a folder.
    Folder,
}

/// A value that the user fills in. All texts are the publisher's.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub struct PlanInput {
    /// Unique in its plan.
    pub key: String,
    /// What to call it.
    pub label: String,
    /// What it is for.
    pub description: Option<String>,
    /// What it takes.
    pub kind: InputKind,
    /// True if nothing is set up without it.
    pub required: bool,
    /// True if the value is a secret, for the keychain.
    pub secret: bool,
    /// True if it may have several values.
    pub multiple: bool,
    /// The values if the user enters none.
    pub default: Vec<String>,
    /// The only values that are accepted; all if empty.
    pub choices: Vec<String>,
    /// An example, to show in the empty field.
    pub placeholder: Option<String>,
    /// The smallest number.
    pub min: Option<f64>,
    /// The greatest number.
    pub max: Option<f64>,
}

// Numbers of a description are read from JSON, which has no NaN.
impl Eq for PlanInput {}

/// The user's values by key. An input that is not in it has its default.
pub type InputValues = BTreeMap<String, Vec<String>>;

impl PlanInput {
    /// An optional input for text.
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

    /// The reason why its default is not accepted. Who reads a description leaves such a default out.
    #[must_use]
    pub fn default_problem(&self) -> Option<InputProblem> {
        if self.default.is_empty() { None } else { self.problem(&self.default) }
    }

    /// The reason why these values are not accepted.
    pub(crate) fn problem(&self, values: &[String]) -> Option<InputProblem> {
        if values.is_empty() {
            return self.required.then_some(InputProblem::Missing);
        }
        if values.len() > if self.multiple { MAX_VALUES } else { 1 } {
            return Some(InputProblem::TooMany);
        }
        values.iter().find_map(|value| self.value_problem(value))
    }

    fn value_problem(&self, value: &str) -> Option<InputProblem> {
        if value.len() > MAX_VALUE || value.chars().any(|c| c.is_control()) {
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

/// The values that go into templates: the user's, or the defaults. Empty ones count as none.
pub(crate) struct Values<'v>(BTreeMap<&'v str, Vec<&'v str>>);

impl<'v> Values<'v> {
    pub(crate) fn new(inputs: &'v [PlanInput], values: &'v InputValues) -> Self {
        let of = |input: &'v PlanInput| {
            let values = values.get(&input.key).unwrap_or(&input.default);
            (input.key.as_str(), values.iter().map(String::as_str).filter(|value| !value.is_empty()).collect())
        };
        Self(inputs.iter().map(of).collect())
    }

    /// All values of an input.
    pub(crate) fn of(&self, key: &str) -> &[&'v str] {
        self.0.get(key).map_or(&[], Vec::as_slice)
    }

    /// The value at this place, or the last one.
    pub(crate) fn at(&self, key: &str, repetition: usize) -> Option<&'v str> {
        let values = self.of(key);
        values.get(repetition).or(values.last()).copied()
    }
}
