//! Values in the description of a server: arguments, environment variables and headers, and the variables in them.

use indexmap::IndexMap;
use serde::Deserialize;

use super::bounded::{
    deserialize_display_text, deserialize_list, deserialize_map, deserialize_required_text, deserialize_unchanged,
};
use super::{MAX_DISPLAYED_TEXT_BYTES, MAX_INPUT_CHOICES, MAX_INPUT_VALUE_BYTES, MAX_LABEL_BYTES, MAX_VALUE_VARIABLES};

/// Type of an input's value. Types that Drawbridge does not know are treated as text.
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

/// Definition of a value that is either fixed by the publisher of a server, or entered by the user.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct InputDefinition {
    /// Purpose of the input's value, for display.
    #[serde(deserialize_with = "deserialize_display_text::<_, MAX_DISPLAYED_TEXT_BYTES>")]
    pub description: Option<String>,
    /// Set if the server doesn't work without the input's value.
    pub is_required: bool,
    /// Type of the input's value, such as a number or a path.
    pub format: InputFormat,
    /// Value that the publisher has fixed, in which `{name}` refers to a variable, or `None` if the user enters the
    /// value.
    #[serde(deserialize_with = "deserialize_unchanged::<_, MAX_INPUT_VALUE_BYTES>")]
    pub value: Option<String>,
    /// Set if the input's value is a secret.
    pub is_secret: bool,
    /// Default value of the input, or `None` if there is none.
    #[serde(deserialize_with = "deserialize_unchanged::<_, MAX_INPUT_VALUE_BYTES>")]
    pub default: Option<String>,
    /// Example of a value, displayed while the field is empty.
    #[serde(deserialize_with = "deserialize_display_text::<_, MAX_DISPLAYED_TEXT_BYTES>")]
    pub placeholder: Option<String>,
    /// Values that the user can choose from. Empty if any value is allowed.
    #[serde(deserialize_with = "deserialize_choices")]
    pub choices: Vec<String>,
}

/// A value whose fixed text may contain variables (`InputWithVariables`).
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
pub struct TemplateInput {
    /// Definition of the value. The text that the publisher has fixed may contain variables.
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
    #[serde(deserialize_with = "deserialize_required_text::<_, MAX_LABEL_BYTES>")]
    pub name: String,
    /// Value that the header or variable is set to.
    #[serde(flatten)]
    pub value: TemplateInput,
}

/// Syntax of a command-line argument: with or without a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ArgumentKind {
    /// A value without a name. Its position identifies it.
    Positional,
    /// A name, such as `--port`, and a value.
    Named,
}

/// Command-line argument in the description of a server (`Argument`).
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct DescribedArgument {
    /// Syntax of the argument on the command line.
    #[serde(rename = "type")]
    pub kind: ArgumentKind,
    /// Name of a named argument, including its dashes.
    #[serde(default, deserialize_with = "deserialize_unchanged::<_, MAX_LABEL_BYTES>")]
    pub name: Option<String>,
    /// Short description of a positional argument's value, used as its label.
    #[serde(default, deserialize_with = "deserialize_display_text::<_, MAX_LABEL_BYTES>")]
    pub value_hint: Option<String>,
    /// Set if the user may enter the argument several times.
    #[serde(default)]
    pub is_repeated: bool,
    /// Value of the argument, in which variables are replaced.
    #[serde(flatten)]
    pub value: TemplateInput,
}

fn deserialize_choices<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Vec<String>, D::Error> {
    #[derive(Deserialize)]
    struct InputChoice(#[serde(deserialize_with = "deserialize_unchanged::<_, MAX_INPUT_VALUE_BYTES>")] Option<String>);
    let choices = deserialize_list::<D, InputChoice, MAX_INPUT_CHOICES>(deserializer)?;
    Ok(choices.into_iter().filter_map(|choice| choice.0).collect())
}
