//! CSS style variables that the host passes to pages.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

/// Names of the standard style variables (specification 2026-01-26, section "Theming").
pub const STYLE_VARIABLES: [&str; 76] = [
    "--color-background-primary",
    "--color-background-secondary",
    "--color-background-tertiary",
    "--color-background-inverse",
    "--color-background-ghost",
    "--color-background-info",
    "--color-background-danger",
    "--color-background-success",
    "--color-background-warning",
    "--color-background-disabled",
    "--color-text-primary",
    "--color-text-secondary",
    "--color-text-tertiary",
    "--color-text-inverse",
    "--color-text-ghost",
    "--color-text-info",
    "--color-text-danger",
    "--color-text-success",
    "--color-text-warning",
    "--color-text-disabled",
    "--color-border-primary",
    "--color-border-secondary",
    "--color-border-tertiary",
    "--color-border-inverse",
    "--color-border-ghost",
    "--color-border-info",
    "--color-border-danger",
    "--color-border-success",
    "--color-border-warning",
    "--color-border-disabled",
    "--color-ring-primary",
    "--color-ring-secondary",
    "--color-ring-inverse",
    "--color-ring-info",
    "--color-ring-danger",
    "--color-ring-success",
    "--color-ring-warning",
    "--font-sans",
    "--font-mono",
    "--font-weight-normal",
    "--font-weight-medium",
    "--font-weight-semibold",
    "--font-weight-bold",
    "--font-text-xs-size",
    "--font-text-sm-size",
    "--font-text-md-size",
    "--font-text-lg-size",
    "--font-heading-xs-size",
    "--font-heading-sm-size",
    "--font-heading-md-size",
    "--font-heading-lg-size",
    "--font-heading-xl-size",
    "--font-heading-2xl-size",
    "--font-heading-3xl-size",
    "--font-text-xs-line-height",
    "--font-text-sm-line-height",
    "--font-text-md-line-height",
    "--font-text-lg-line-height",
    "--font-heading-xs-line-height",
    "--font-heading-sm-line-height",
    "--font-heading-md-line-height",
    "--font-heading-lg-line-height",
    "--font-heading-xl-line-height",
    "--font-heading-2xl-line-height",
    "--font-heading-3xl-line-height",
    "--border-radius-xs",
    "--border-radius-sm",
    "--border-radius-md",
    "--border-radius-lg",
    "--border-radius-xl",
    "--border-radius-full",
    "--border-width-regular",
    "--shadow-hairline",
    "--shadow-sm",
    "--shadow-md",
    "--shadow-lg",
];

/// Prefix of the names of style variables that are colors.
const COLOR_VARIABLE_PREFIX: &str = "--color-";

/// Values of standard style variables, with either all colors or none.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct StyleVariables(BTreeMap<&'static str, String>);

/// Reason why style variables are refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum StyleVariablesError {
    /// The name is not in [`STYLE_VARIABLES`].
    #[error("{0:?} is not a standard style variable")]
    Unknown(String),
    /// Some colors are given, but not this one. Pages would mix the host's colors with their own.
    #[error("{0} is missing, although other colors are given")]
    MissingColor(&'static str),
}

impl StyleVariables {
    /// Creates style variables from names and CSS values. Colors are best written as `light-dark(a, b)`.
    ///
    /// # Errors
    ///
    /// Returns [`StyleVariablesError`] for a name that is not standard, and if some colors are missing.
    pub fn new<'a>(values: impl IntoIterator<Item = (&'a str, String)>) -> Result<Self, StyleVariablesError> {
        let mut variables = BTreeMap::new();
        for (name, value) in values {
            let standard = STYLE_VARIABLES.into_iter().find(|standard| *standard == name);
            variables.insert(standard.ok_or_else(|| StyleVariablesError::Unknown(name.to_owned()))?, value);
        }
        let has_colors = variables.keys().any(|name| name.starts_with(COLOR_VARIABLE_PREFIX));
        let mut colors = STYLE_VARIABLES.into_iter().filter(|name| name.starts_with(COLOR_VARIABLE_PREFIX));
        match colors.find(|color| has_colors && !variables.contains_key(color)) {
            Some(missing) => Err(StyleVariablesError::MissingColor(missing)),
            None => Ok(Self(variables)),
        }
    }

    /// Returns `true` if no variable has a value.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(super) fn to_value(&self) -> Value {
        let members = self.0.iter().map(|(name, value)| ((*name).to_owned(), Value::String(value.clone())));
        Value::Object(members.collect::<Map<_, _>>())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn style_colors_must_be_all_given_or_all_missing() {
        let all = || STYLE_VARIABLES.into_iter().map(|name| (name, "red".to_owned()));
        assert_eq!(StyleVariables::new(all()).map(|variables| variables.0.len()), Ok(76));
        let half = all().filter(|(name, _)| *name != "--color-ring-info");
        assert_eq!(StyleVariables::new(half), Err(StyleVariablesError::MissingColor("--color-ring-info")));
        let fonts = [("--font-sans", "sans-serif".to_owned())];
        assert!(StyleVariables::new(fonts).is_ok_and(|variables| !variables.is_empty()));
        let unknown = [("--color-accent", "red".to_owned())];
        assert_eq!(StyleVariables::new(unknown), Err(StyleVariablesError::Unknown("--color-accent".into())));
    }
}
