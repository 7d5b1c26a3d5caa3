//! Values of a description: arguments, variables of the environment, headers, and the variables in them.

use indexmap::IndexMap;
use serde::Deserialize;

use super::bounded::{exact, list, map, needed, shown};
use super::{MAX_CHOICES, MAX_LABEL, MAX_SHOWN, MAX_VALUE, MAX_VARIABLES};

/// What kind of value an input takes. One that is not known counts as text.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum InputFormat {
    /// A decimal number.
    Number,
    /// `true` or `false`.
    Boolean,
    /// The path of a file or folder.
    Filepath,
    /// Text.
    #[default]
    #[serde(other)]
    String,
}

/// A value that is fixed, or that the user enters (`Input`).
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Input {
    /// What it is for.
    #[serde(deserialize_with = "shown::<_, MAX_SHOWN>")]
    pub description: Option<String>,
    /// True if the server does not work without it.
    pub is_required: bool,
    /// The kind of value.
    pub format: InputFormat,
    /// The fixed value. `{name}` in it stands for a variable.
    #[serde(deserialize_with = "exact::<_, MAX_VALUE>")]
    pub value: Option<String>,
    /// True if the value is a secret.
    pub is_secret: bool,
    /// The value if the user enters none.
    #[serde(deserialize_with = "exact::<_, MAX_VALUE>")]
    pub default: Option<String>,
    /// An example.
    #[serde(deserialize_with = "shown::<_, MAX_SHOWN>")]
    pub placeholder: Option<String>,
    /// The only values that are accepted; all if empty.
    #[serde(deserialize_with = "choices")]
    pub choices: Vec<String>,
}

/// A value in which variables stand (`InputWithVariables`).
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
pub struct TemplateInput {
    /// The value.
    #[serde(flatten)]
    pub input: Input,
    /// The variables of its fixed value, by name.
    #[serde(default, deserialize_with = "map::<_, _, MAX_VARIABLES>")]
    pub variables: IndexMap<String, Input>,
}

/// A header or a variable of the environment (`KeyValueInput`).
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct NamedInput {
    /// Its name.
    #[serde(deserialize_with = "needed::<_, MAX_LABEL>")]
    pub name: String,
    /// Its value.
    #[serde(flatten)]
    pub value: TemplateInput,
}

/// Where an argument stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ArgumentKind {
    /// By its place.
    Positional,
    /// Behind its name.
    Named,
}

/// An argument of a command (`Argument`).
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct DescribedArgument {
    /// Where it stands.
    #[serde(rename = "type")]
    pub kind: ArgumentKind,
    /// The name of a named one, with its dashes.
    #[serde(default, deserialize_with = "exact::<_, MAX_LABEL>")]
    pub name: Option<String>,
    /// What to call a positional one.
    #[serde(default, deserialize_with = "shown::<_, MAX_LABEL>")]
    pub value_hint: Option<String>,
    /// True if it may stand there several times.
    #[serde(default)]
    pub is_repeated: bool,
    /// Its value.
    #[serde(flatten)]
    pub value: TemplateInput,
}

fn choices<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Vec<String>, D::Error> {
    #[derive(Deserialize)]
    struct Choice(#[serde(deserialize_with = "exact::<_, MAX_VALUE>")] Option<String>);
    let choices = list::<D, Choice, MAX_CHOICES>(deserializer)?;
    Ok(choices.into_iter().filter_map(|choice| choice.0).collect())
}
