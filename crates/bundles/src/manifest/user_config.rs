//! Settings of a bundle that the user fills in (`user_config`).

use installs::ManifestWarning;
use serde::Serialize;
use serde_json::Value;

use super::ManifestError;
use super::fields::{
    MAX_ARGUMENT_BYTES, MAX_DESCRIPTION_BYTES, MAX_LABEL_BYTES, ManifestFields, ManifestWarnings, parse_bounded_string,
    truncate,
};

/// Type of the value of a bundle's setting.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum UserConfigKind {
    /// The setting's value is a text.
    String,
    /// The setting's value is a number.
    Number,
    /// The setting's value is a boolean.
    Boolean,
    /// The setting's value is the path of a folder.
    Directory,
    /// The setting's value is the path of a file.
    File,
}

/// A setting of a bundle, which the user fills in.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct UserConfig {
    /// Key of the setting. Other texts refer to its value as `${user_config.KEY}`.
    pub key: String,
    /// Type of the setting's value.
    pub kind: UserConfigKind,
    /// Name of the setting for display, or `None` to display the key.
    pub title: Option<String>,
    /// Purpose of the setting, for display.
    pub description: Option<String>,
    /// Set if the server can't start without a value of the setting.
    pub required: bool,
    /// Default values of the setting, which may contain references such as `${HOME}`.
    pub default: Vec<String>,
    /// Set if the user may enter several values for the setting.
    pub multiple: bool,
    /// Set if the value is a secret, such as an API key.
    pub sensitive: bool,
    /// Smallest number that the setting allows, or `None` if unbounded.
    pub min: Option<f64>,
    /// Largest number that the setting allows, or `None` if unbounded.
    pub max: Option<f64>,
}

/// Parses all settings in a manifest's `user_config`. A setting of an unknown type is treated as text.
pub(super) fn read_user_config(
    root: ManifestFields<'_>,
    warnings: &mut ManifestWarnings,
) -> Result<Vec<UserConfig>, ManifestError> {
    let Some(all) = root.object("user_config", warnings) else { return Ok(Vec::new()) };
    if all.len() > installs::MAX_PLAN_INPUTS {
        return Err(ManifestError::TooLong("user_config".to_owned()));
    }
    let mut inputs = Vec::new();
    for (key, value) in all {
        let at = format!("user_config.{}", truncate(key, MAX_LABEL_BYTES));
        if key.is_empty() || key.len() > MAX_LABEL_BYTES || key.contains('}') {
            return Err(ManifestError::Field { field: at, expected: "the name of a value" });
        }
        let object = value.as_object();
        let object = object.ok_or_else(|| ManifestError::Field { field: at.clone(), expected: "an object" })?;
        inputs.push(read_user_setting(key, ManifestFields::new(object, &at), warnings)?);
    }
    Ok(inputs)
}

fn read_user_setting(
    key: &str,
    fields: ManifestFields<'_>,
    warnings: &mut ManifestWarnings,
) -> Result<UserConfig, ManifestError> {
    let kind = match fields.text("type", MAX_LABEL_BYTES, warnings).as_deref() {
        Some("string") => UserConfigKind::String,
        Some("number") => UserConfigKind::Number,
        Some("boolean") => UserConfigKind::Boolean,
        Some("directory") => UserConfigKind::Directory,
        Some("file") => UserConfigKind::File,
        _ => {
            warnings.add(ManifestWarning::UnknownSettingType { member: fields.displayed_member_path("type") });
            UserConfigKind::String
        }
    };
    let default = match fields.value("default") {
        None => Vec::new(),
        Some(Value::Array(values)) => {
            values.iter().map(|value| default_value_text(value, &fields)).collect::<Result<_, _>>()?
        }
        Some(value) => vec![default_value_text(value, &fields)?],
    };
    Ok(UserConfig {
        key: key.to_owned(),
        kind,
        title: fields.text("title", MAX_LABEL_BYTES, warnings),
        description: fields.text("description", MAX_DESCRIPTION_BYTES, warnings),
        required: fields.flag("required", warnings),
        default,
        multiple: fields.flag("multiple", warnings),
        sensitive: fields.flag("sensitive", warnings),
        min: fields.number("min", warnings),
        max: fields.number("max", warnings),
    })
}

/// Returns the default value of a setting as the text that replaces references to the setting.
fn default_value_text(value: &Value, fields: &ManifestFields<'_>) -> Result<String, ManifestError> {
    match value {
        Value::Bool(value) => Ok(value.to_string()),
        // Rust formats numbers without an exponent, serde_json with one.
        Value::Number(number) => Ok(match number.as_f64().filter(|_| number.is_f64()) {
            Some(fraction) => fraction.to_string(),
            None => number.to_string(),
        }),
        value => parse_bounded_string(value, &fields.path("default"), MAX_ARGUMENT_BYTES),
    }
}
