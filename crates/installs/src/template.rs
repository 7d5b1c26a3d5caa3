//! Templates: texts with placeholders for the values of inputs.

use ports::secrets;

use crate::PlanInput;
use crate::input::SubstitutionValues;

/// A part of a [`Template`]: literal text, or the value of an input.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TemplatePart {
    /// Literal text, which is used unchanged.
    Text(String),
    /// The value of the input with this key.
    Input(String),
    /// An empty text, if the input with this key has a value. Otherwise the whole template is omitted, as with
    /// [`TemplatePart::Input`].
    Needs(String),
}

/// Text of a command line, URL, variable or header, in which values of a plan's inputs are inserted.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Template {
    /// Parts of the template, in order.
    pub parts: Vec<TemplatePart>,
}

/// Group of command-line arguments, such as `--port` and its value.
///
/// The group is omitted if one of its inputs has no value, and repeated for each value of an input with several values.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ArgumentGroupTemplate {
    /// Templates of the words in the group. Each becomes one argument.
    pub words: Vec<Template>,
}

impl From<&str> for Template {
    fn from(text: &str) -> Self {
        Self { parts: vec![TemplatePart::Text(text.to_owned())] }
    }
}

impl From<&str> for ArgumentGroupTemplate {
    fn from(word: &str) -> Self {
        Self { words: vec![word.into()] }
    }
}

impl From<Template> for ArgumentGroupTemplate {
    fn from(word: Template) -> Self {
        Self { words: vec![word] }
    }
}

impl Template {
    /// Creates a template for a text that is the value of the input with this key.
    #[must_use]
    pub fn input(key: &str) -> Self {
        Self { parts: vec![TemplatePart::Input(key.to_owned())] }
    }

    /// Returns the keys of the inputs that the template refers to.
    pub fn input_keys(&self) -> impl Iterator<Item = &str> {
        self.parts.iter().filter_map(|part| match part {
            TemplatePart::Input(key) => Some(key.as_str()),
            TemplatePart::Text(_) | TemplatePart::Needs(_) => None,
        })
    }

    /// Returns `true` if the text of the template and a default or choice of one of these inputs form a reference to a
    /// secret (`${secret:NAME}`) together. Only values that the user enters may contain such references.
    /// [`InstallPlan::fill`](crate::InstallPlan::fill) rejects such a plan in any case, but the creator of the plan can
    /// give a more specific error.
    #[must_use]
    pub fn forms_secret_reference(&self, inputs: &[PlanInput]) -> bool {
        let (mut is_open, mut ends_with_dollar) = (false, false);
        for part in &self.parts {
            match part {
                TemplatePart::Text(text) => {
                    is_open = match text.rfind("${") {
                        Some(at) => !text[at..].contains('}'),
                        None => is_open && !text.contains('}'),
                    };
                    ends_with_dollar = text.ends_with('$');
                }
                TemplatePart::Input(key) => {
                    let input = inputs.iter().find(|input| input.key == *key);
                    let mut offered = input.into_iter().flat_map(|input| input.default.iter().chain(&input.choices));
                    let opens = |value: &String| value.contains("${") || value.ends_with('$');
                    let is_composed = self.parts.len() > 1;
                    if is_open
                        || offered
                            .any(|value| is_composed && opens(value) || ends_with_dollar && value.starts_with('{'))
                    {
                        return true;
                    }
                    ends_with_dollar = false;
                }
                TemplatePart::Needs(_) => {}
            }
        }
        false
    }

    /// Returns `true` if the literal text of the template contains a reference to one of Drawbridge's secrets, possibly
    /// split over several parts.
    pub(crate) fn refers_to_secret(&self) -> bool {
        let pieces = self.parts.iter().map(|part| if let TemplatePart::Text(text) = part { text } else { "" });
        refers_to_secret(&pieces.collect::<String>())
    }

    /// Returns the text of the template with the values of the inputs inserted. Of an input with several values,
    /// inserts the one with the index `repetition`, or the last one if there are fewer. Returns `None` if an input has
    /// no value.
    pub(crate) fn text(&self, values: &SubstitutionValues<'_>, repetition: usize) -> Option<String> {
        let mut text = String::new();
        for part in &self.parts {
            match part {
                TemplatePart::Text(part) => text.push_str(part),
                TemplatePart::Input(key) => text.push_str(values.value_at(key, repetition)?),
                TemplatePart::Needs(key) => _ = values.value_at(key, repetition)?,
            }
        }
        Some(text)
    }
}

pub(crate) fn refers_to_secret(text: &str) -> bool {
    !secrets::referenced_secret_names(text).is_empty()
}

impl ArgumentGroupTemplate {
    /// Returns the arguments that the group yields: its words with the values of the inputs inserted, repeated as often
    /// as the input with the most values requires. Returns none if an input has no value.
    pub(crate) fn expand(&self, values: &SubstitutionValues<'_>) -> Vec<String> {
        let keys = self.words.iter().flat_map(Template::input_keys);
        let repetitions = keys.map(|key| values.values(key).len()).max().unwrap_or(1);
        (0..repetitions)
            .filter_map(|at| self.words.iter().map(|word| word.text(values, at)).collect::<Option<Vec<_>>>())
            .flatten()
            .collect()
    }
}
