//! Values in the description of a server: arguments, environment variables and headers, and the variables in them.

use indexmap::IndexMap;
use serde::Deserialize;

use super::bounded::{deserialize_display, deserialize_exact, deserialize_list, deserialize_map, deserialize_required};
use super::{MAX_DISPLAYED_TEXT_BYTES, MAX_INPUT_CHOICES, MAX_INPUT_VALUE_BYTES, MAX_LABEL_BYTES, MAX_VALUE_VARIABLES};

/// Type of the value that the user enters for an input of a server. Unknown types are treated as text.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum InputFormat {
    /// The input's value is a number in decimal notation.
    Number,
    /// The input's value is a boolean, `true` or `false`.
    Boolean,
    /// The input's value is the path of a file or folder.
    Filepath,
    /// The input's value is a text without a specific format.
    #[default]
    #[serde(other)]
    String,
}

/// A value in the description of a server that is either fixed by the publisher, or entered by the user.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct InputDefinition {
    /// Purpose of the input's value, for display.
    #[serde(deserialize_with = "deserialize_display::<_, MAX_DISPLAYED_TEXT_BYTES>")]
    pub description: Option<String>,
    /// Set if the server doesn't work without the input's value.
    pub is_required: bool,
    /// Type of the input's value, such as a number or a path.
    pub format: InputFormat,
    /// Fixed value, or `None` if the user enters it. `{name}` in it refers to a variable.
    #[serde(deserialize_with = "deserialize_exact::<_, MAX_INPUT_VALUE_BYTES>")]
    pub value: Option<String>,
    /// Set if the input's value is a secret.
    pub is_secret: bool,
    /// Default value of the input, or `None` if there is none.
    #[serde(deserialize_with = "deserialize_exact::<_, MAX_INPUT_VALUE_BYTES>")]
    pub default: Option<String>,
    /// Example of a value, for display in an empty field.
    #[serde(deserialize_with = "deserialize_display::<_, MAX_DISPLAYED_TEXT_BYTES>")]
    pub placeholder: Option<String>,
    /// Values that the user can choose from. Empty if any value is allowed.
    #[serde(deserialize_with = "choices")]
    pub choices: Vec<String>,
}

/// A value of a server's description whose text may contain variables (`InputWithVariables`).
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
pub struct TemplateInput {
    /// Description and fixed value of the input. The fixed value may contain variables.
    #[serde(flatten)]
    pub input: InputDefinition,
    /// Definitions of the variables in the fixed value, by name.
    #[serde(default, deserialize_with = "deserialize_map::<_, _, MAX_VALUE_VARIABLES>")]
    pub variables: IndexMap<String, InputDefinition>,
}

/// A header or environment variable of a server, as the publisher describes it (`KeyValueInput`).
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct NamedInput {
    /// Name of the header or variable.
    #[serde(deserialize_with = "deserialize_required::<_, MAX_LABEL_BYTES>")]
    pub name: String,
    /// Value that the header or variable is set to.
    #[serde(flatten)]
    pub value: TemplateInput,
}

/// Syntax of an argument on the command line: positional or named.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ArgumentKind {
    /// The argument consists of a value, which is identified by its position.
    Positional,
    /// The argument consists of a name and a value.
    Named,
}

/// Command-line argument in the description of a server (`Argument`).
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct DescribedArgument {
    /// Form of the argument on the command line: positional or named.
    #[serde(rename = "type")]
    pub kind: ArgumentKind,
    /// Name of a named argument, including its dashes.
    #[serde(default, deserialize_with = "deserialize_exact::<_, MAX_LABEL_BYTES>")]
    pub name: Option<String>,
    /// Label for the value of a positional argument.
    #[serde(default, deserialize_with = "deserialize_display::<_, MAX_LABEL_BYTES>")]
    pub value_hint: Option<String>,
    /// Set if the user may enter the argument several times.
    #[serde(default)]
    pub is_repeated: bool,
    /// Value of the argument, in which variables are replaced.
    #[serde(flatten)]
    pub value: TemplateInput,
}

fn choices<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Vec<String>, D::Error> {
    #[derive(Deserialize)]
    struct InputChoice(#[serde(deserialize_with = "deserialize_exact::<_, MAX_INPUT_VALUE_BYTES>")] Option<String>);
    let choices = deserialize_list::<D, InputChoice, MAX_INPUT_CHOICES>(deserializer)?;
    Ok(choices.into_iter().filter_map(|choice| choice.0).collect())
}
