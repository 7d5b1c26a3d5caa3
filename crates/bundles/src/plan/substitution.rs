//! Substitution of `${…}` references in the texts of a manifest, in a single pass. The reference implementation
//! replaces them in several passes, so that a value can contain further references.

use installs::{Template, TemplatePart};

use super::{BundleEnvironment, PlanError, unicode_folder_path};

const PLACEHOLDER_START: &str = "${";
const INPUT_REFERENCE_PREFIX: &str = "user_config.";

/// Values of the references in a manifest that have a fixed meaning on this computer, by name.
pub(super) struct SubstitutionValues {
    known: [(&'static str, String); 7],
}

impl SubstitutionValues {
    pub(super) fn new(environment: &BundleEnvironment) -> Result<Self, PlanError> {
        let separator = || environment.platform.separator().to_owned();
        Ok(Self {
            known: [
                ("__dirname", unicode_folder_path(&environment.folder)?),
                ("HOME", unicode_folder_path(&environment.home)?),
                ("DESKTOP", unicode_folder_path(&environment.desktop)?),
                ("DOCUMENTS", unicode_folder_path(&environment.documents)?),
                ("DOWNLOADS", unicode_folder_path(&environment.downloads)?),
                ("pathSeparator", separator()),
                ("/", separator()),
            ],
        })
    }

    /// Returns the text as a template, in which references to known values are replaced by those values, and references
    /// to inputs become parts of the template. Unknown references remain as text.
    pub(super) fn template(&self, text: &str) -> Template {
        let (mut parts, mut literal) = (Vec::new(), String::new());
        let mut rest = text;
        while let Some((before, inner, after)) = split_at_placeholder(rest) {
            literal.push_str(before);
            rest = after;
            if let Some(key) = inner.strip_prefix(INPUT_REFERENCE_PREFIX) {
                if !literal.is_empty() {
                    parts.push(TemplatePart::Text(std::mem::take(&mut literal)));
                }
                parts.push(TemplatePart::Input(key.to_owned()));
            } else if let Some((_, value)) = self.known.iter().find(|(name, _)| *name == inner) {
                literal.push_str(value);
            } else {
                // Another reference may begin within an unknown one.
                literal.push_str(PLACEHOLDER_START);
                rest = &text[text.len() - after.len() - inner.len() - 1..];
            }
        }
        literal.push_str(rest);
        if !literal.is_empty() || parts.is_empty() {
            parts.push(TemplatePart::Text(literal));
        }
        Template { parts }
    }

    /// Returns the text with references to known values replaced, or `None` if the text refers to an input of the user.
    pub(super) fn text(&self, text: &str) -> Option<String> {
        match self.template(text).parts.as_slice() {
            [TemplatePart::Text(text)] => Some(text.clone()),
            _ => None,
        }
    }
}

/// Splits a text at the first `${…}`: returns the text before it, the name in it, and the text after it.
fn split_at_placeholder(text: &str) -> Option<(&str, &str, &str)> {
    let (before, rest) = text.split_once(PLACEHOLDER_START)?;
    let (inner, after) = rest.split_once('}')?;
    Some((before, inner, after))
}
