//! Inputs of a plan, and the templates that refer to them.

use foreign::escape_invisible;
use indexmap::IndexMap;
use installs::{InputKind, InstallNote, MAX_PLAN_INPUTS, PlanInput, PlanPlace, Template, TemplatePart};
use ports::secrets;

use super::PlanError;
use crate::server_json::bounded::one_line;
use crate::server_json::read::shorten_untrusted_text;
use crate::server_json::{InputDefinition, InputFormat, TemplateInput};

/// Maximum number of notes in an install plan.
const MAX_PLAN_NOTES: usize = 50;

/// Inputs and notes for the user that were collected for an install plan so far.
#[derive(Debug, Default)]
pub(super) struct PlanInputs {
    pub(super) inputs: Vec<PlanInput>,
    pub(super) notes: Vec<InstallNote>,
}

/// Position of a value in the publisher's description of a server, and properties of the input that it may become.
#[derive(Debug, Clone, Copy)]
pub(super) struct ValuePosition<'p> {
    /// Label of the input, if the user has to enter the value.
    pub(super) label: &'p str,
    /// Part of the plan that contains the value, which notes mention.
    pub(super) place: &'p PlanPlace,
    /// Set if the user may enter several values for the input.
    pub(super) is_repeated: bool,
}

impl PlanInputs {
    pub(super) fn add_note(&mut self, note: InstallNote) {
        if self.notes.len() < MAX_PLAN_NOTES && !self.notes.contains(&note) {
            self.notes.push(note);
        }
    }

    /// Returns the template of a value in the publisher's description: its fixed text, in which variables become
    /// inputs. If it has no fixed text, the whole value becomes an input.
    ///
    /// # Errors
    /// Returns [`PlanError`] if there are too many inputs, or a text refers to a secret.
    pub(super) fn value_template(
        &mut self,
        at: ValuePosition<'_>,
        value: &TemplateInput,
    ) -> Result<Template, PlanError> {
        let input = &value.input;
        let Some(fixed) = &input.value else {
            let key = self.add_input(at, input, false)?;
            return Ok(Template::input(&key));
        };
        let template = self.text_template(at, fixed, &value.variables, input)?;
        if input.is_secret && template.input_keys().next().is_none() {
            self.add_note(InstallNote::PublicSecret { place: at.place.clone() });
        }
        Ok(template)
    }

    /// Returns the template of a publisher's fixed text, in which variables are replaced once or become inputs. Inputs
    /// are required if the whole text is, and secret if the whole text is.
    pub(super) fn text_template(
        &mut self,
        at: ValuePosition<'_>,
        text: &str,
        variables: &IndexMap<String, InputDefinition>,
        whole: &InputDefinition,
    ) -> Result<Template, PlanError> {
        self.check_publisher_text(at.place, text)?;
        let mut pieces = Vec::new();
        for piece in split_template_pieces(text) {
            match piece {
                TemplatePiece::Text(text) => pieces.push(TemplatePart::Text(text.to_owned())),
                TemplatePiece::Variable(braced, name) => match variables.get(name) {
                    Some(InputDefinition { value: Some(value), .. }) => {
                        self.check_publisher_text(at.place, value)?;
                        pieces.push(TemplatePart::Text(value.clone()));
                    }
                    Some(variable) => {
                        let variable = InputDefinition {
                            is_required: variable.is_required || whole.is_required,
                            is_secret: variable.is_secret || whole.is_secret,
                            ..variable.clone()
                        };
                        let key = self.add_input(ValuePosition { label: name, ..at }, &variable, true)?;
                        pieces.push(TemplatePart::Input(key));
                    }
                    None => {
                        let variable = shorten_untrusted_text(braced);
                        self.add_note(InstallNote::UndeclaredInput { place: at.place.clone(), variable });
                        pieces.push(TemplatePart::Text(braced.to_owned()));
                    }
                },
            }
        }
        // Several texts that are harmless separately may form a reference to a secret together.
        let template = Template { parts: merge_texts(pieces) };
        for part in &template.parts {
            if let TemplatePart::Text(text) = part {
                self.check_publisher_text(at.place, text)?;
            }
        }
        if template.forms_secret_reference(&self.inputs) {
            return Err(PlanError::NamesSecret(at.place.to_string()));
        }
        Ok(template)
    }

    /// Returns an error for a text of the publisher that refers to one of Drawbridge's secrets. Adds a note if the text
    /// contains invisible characters.
    fn check_publisher_text(&mut self, place: &PlanPlace, text: &str) -> Result<(), PlanError> {
        if !secrets::referenced_secret_names(text).is_empty() {
            return Err(PlanError::NamesSecret(place.to_string()));
        }
        if escape_invisible(text) != text {
            let text = shorten_untrusted_text(text);
            self.add_note(InstallNote::InvisibleCharacters { place: place.clone(), text });
        }
        Ok(())
    }

    /// Adds an input to the plan and returns its key. Variables of the same name and definition share one input.
    fn add_input(
        &mut self,
        at: ValuePosition<'_>,
        input: &InputDefinition,
        is_variable: bool,
    ) -> Result<String, PlanError> {
        let label = one_line(at.label);
        let mut planned = PlanInput {
            description: input.description.clone(),
            kind: match input.format {
                InputFormat::String => InputKind::Text,
                InputFormat::Number => InputKind::Number,
                InputFormat::Boolean => InputKind::Boolean,
                InputFormat::Filepath => InputKind::File,
            },
            required: input.is_required,
            secret: input.is_secret,
            multiple: at.is_repeated,
            default: input.default.iter().filter(|default| !default.is_empty()).cloned().collect(),
            choices: input.choices.clone(),
            placeholder: input.placeholder.clone(),
            ..PlanInput::text(&label)
        };
        let place = PlanPlace::Input { name: label.clone() };
        for text in planned.default.iter().chain(&planned.choices) {
            self.check_publisher_text(&place, text)?;
        }
        if let Some(problem) = planned.default_problem() {
            self.add_note(InstallNote::DefaultOmitted { input: label.clone(), problem });
            planned.default.clear();
        }
        let others = || self.inputs.iter().filter(|other| other.label == label);
        if is_variable
            && let Some(same) =
                others().find(|other| PlanInput { key: other.key.clone(), ..planned.clone() } == **other)
        {
            return Ok(same.key.clone());
        }
        if self.inputs.len() == MAX_PLAN_INPUTS {
            return Err(PlanError::TooManyInputs);
        }
        let is_free = |key: &str| !self.inputs.iter().any(|other| other.key == key);
        let mut keys = (2_u32..).map(|number| format!("{label}-{number}"));
        planned.key = if is_free(&label) { label } else { keys.find(|key| is_free(key)).unwrap_or_default() };
        let key = planned.key.clone();
        self.inputs.push(planned);
        Ok(key)
    }
}

/// Merges adjacent text parts of a template, and drops empty ones.
fn merge_texts(parts: Vec<TemplatePart>) -> Vec<TemplatePart> {
    let mut merged: Vec<TemplatePart> = Vec::new();
    for part in parts {
        match (merged.last_mut(), part) {
            (_, TemplatePart::Text(text)) if text.is_empty() => {}
            (Some(TemplatePart::Text(before)), TemplatePart::Text(text)) => before.push_str(&text),
            (_, part) => merged.push(part),
        }
    }
    merged
}

enum TemplatePiece<'t> {
    Text(&'t str),
    /// A variable: its text including the braces, and the name between them.
    Variable(&'t str, &'t str),
}

/// Splits a text into literal texts and `{name}` variables. An unclosed brace, or one that contains another brace, is
/// literal text.
fn split_template_pieces(text: &str) -> Vec<TemplatePiece<'_>> {
    let mut pieces = Vec::new();
    let mut rest = text;
    while let Some(close) = rest.find('}') {
        match rest[..close].rfind('{') {
            Some(open) if open + 1 < close => {
                pieces.push(TemplatePiece::Text(&rest[..open]));
                pieces.push(TemplatePiece::Variable(&rest[open..=close], &rest[open + 1..close]));
            }
            _ => pieces.push(TemplatePiece::Text(&rest[..=close])),
        }
        rest = &rest[close + 1..];
    }
    pieces.push(TemplatePiece::Text(rest));
    pieces
}
