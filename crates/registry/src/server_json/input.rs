//! The values of a description: arguments, environment variables, headers, and the variables in them.

use indexmap::IndexMap;
use serde::Deserialize;

use super::bounded::{deserialize_display, deserialize_exact, deserialize_list, deserialize_map, deserialize_required};
use super::{MAX_CHOICES, MAX_LABEL, MAX_SHOWN, MAX_VALUE, MAX_VARIABLES};

/// The type of value that an input accepts. An unknown type counts as text.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum InputFormat {
    /// A number in decimal notation.
    Number,
    /// A boolean, `true` or `false`.
    Boolean,
    /// The path of a file or folder.
    Filepath,
    /// A text without a specific format.
    #[default]
    #[serde(other)]
    String,
}

/// A value that is fixed, or that the user enters (`InputDefinition`).
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct InputDefinition {
    /// Purpose of the value.
    #[serde(deserialize_with = "deserialize_display::<_, MAX_SHOWN>")]
    pub description: Option<String>,
    /// Set if the server doesn't work without the value.
    pub is_required: bool,
    /// Type of the value.
    pub format: InputFormat,
    /// Fixed value. `{name}` in it refers to a variable.
    #[serde(deserialize_with = "deserialize_exact::<_, MAX_VALUE>")]
    pub value: Option<String>,
    /// Set if the value is a secret.
    pub is_secret: bool,
    /// Value used if the user enters none.
    #[serde(deserialize_with = "deserialize_exact::<_, MAX_VALUE>")]
    pub default: Option<String>,
    /// Example of a value, for display.
    #[serde(deserialize_with = "deserialize_display::<_, MAX_SHOWN>")]
    pub placeholder: Option<String>,
    /// The accepted values; any value if empty.
    #[serde(deserialize_with = "choices")]
    pub choices: Vec<String>,
}

/// A value that may contain variables (`InputWithVariables`).
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
pub struct TemplateInput {
    /// Value, in which variables are replaced.
    #[serde(flatten)]
    pub input: InputDefinition,
    /// Variables of the fixed value, by name.
    #[serde(default, deserialize_with = "deserialize_map::<_, _, MAX_VARIABLES>")]
    pub variables: IndexMap<String, InputDefinition>,
}

/// A header or environment variable (`KeyValueInput`).
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct NamedInput {
    /// Name of the header or variable.
    #[serde(deserialize_with = "deserialize_required::<_, MAX_LABEL>")]
    pub name: String,
    /// Value of the header or variable.
    #[serde(flatten)]
    pub value: TemplateInput,
}

/// The form of an argument.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ArgumentKind {
    /// Identified by its position.
    Positional,
    /// Preceded by its name.
    Named,
}

/// An argument of a command (`Argument`).
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct DescribedArgument {
    /// Form of the argument.
    #[serde(rename = "type")]
    pub kind: ArgumentKind,
    /// Name of a named argument, with its dashes.
    #[serde(default, deserialize_with = "deserialize_exact::<_, MAX_LABEL>")]
    pub name: Option<String>,
    /// Label of a positional argument.
    #[serde(default, deserialize_with = "deserialize_display::<_, MAX_LABEL>")]
    pub value_hint: Option<String>,
    /// Set if the argument may be repeated.
    #[serde(default)]
    pub is_repeated: bool,
    /// Value of the argument.
    #[serde(flatten)]
    pub value: TemplateInput,
}

fn choices<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Vec<String>, D::Error> {
    #[derive(Deserialize)]
    struct InputChoice(#[serde(deserialize_with = "deserialize_exact::<_, MAX_VALUE>")] Option<String>);
    let choices = deserialize_list::<D, InputChoice, MAX_CHOICES>(deserializer)?;
    Ok(choices.into_iter().filter_map(|choice| choice.0).collect())
}
