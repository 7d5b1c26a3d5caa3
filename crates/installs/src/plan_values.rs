//! Computes a server's settings from a plan and the user's values.

use std::collections::{BTreeMap, BTreeSet};

use ports::server_config::{
    HttpConfig, NewServer, SandboxConfig, ServerConfig, ServerEntry, StdioConfig, ValuePart, header_problem,
    server_url_problem,
};
use serde::{Deserialize, Serialize};

use crate::input::SubstitutionValues;
use crate::template::refers_to_secret;
use crate::{InputValues, InstallPlan, PlanInput, PlannedTransport, Template, TemplatePart};

/// Reason why the value that the user entered for an input of a plan is rejected.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum InputProblem {
    /// The user entered no value for a required input.
    #[error("a value is required")]
    Missing,
    /// The input has more values than it accepts.
    #[error("there are too many values")]
    TooMany,
    /// The value is longer than [`MAX_ENTERED_VALUE_BYTES`](crate::MAX_ENTERED_VALUE_BYTES), or contains control
    /// characters.
    #[error("the value is too long or has line breaks or control characters")]
    NotText,
    /// The value is not one of the choices of the input.
    #[error("the value is not one of the choices")]
    NotAChoice,
    /// The value of a number input is not a decimal number.
    #[error("the value is not a number")]
    NotANumber,
    /// The number is below the minimum or above the maximum.
    #[error("the number is out of range")]
    OutOfRange,
    /// The value of a boolean input is neither `true` nor `false`.
    #[error("the value is not true or false")]
    NotABoolean,
    /// The value of a file or folder input is not an absolute path.
    #[error("the value is not an absolute path")]
    NotAPath,
}

/// Reason why a plan and the values that the user entered yield no settings.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FillError {
    /// Some values are rejected. Contains the reason for each, by the key of the input.
    #[error("{}", input_problems_text(.0))]
    Inputs(BTreeMap<String, InputProblem>),
    /// The plan has no input with the contained key.
    #[error("there is no input {0:?}")]
    UnknownInput(String),
    /// A text of the plan refers to one of Drawbridge's secrets, or would do so together with a default value or
    /// choice. Contains the part of the plan with that text.
    #[error("{0} names a secret of Drawbridge's; a publisher must not")]
    NamesSecret(String),
    /// The URL that results from the values is invalid. Contains the reason.
    #[error("the URL can't be used: {0}")]
    Url(String),
    /// A header that results from the values is invalid. Contains the reason.
    #[error("{0}")]
    Header(String),
}

fn input_problems_text(problems: &BTreeMap<String, InputProblem>) -> String {
    problems.iter().map(|(key, problem)| format!("{key}: {problem}")).collect::<Vec<_>>().join("; ")
}

impl InstallPlan {
    /// Returns the keys of those secret inputs whose values are written to the settings file and the command line,
    /// because they are not in a variable or header, which could refer to the keychain. The user must be warned about
    /// them.
    #[must_use]
    pub fn secret_inputs_outside_keychain(&self) -> BTreeSet<&str> {
        let templates: Vec<&Template> = match &self.target {
            PlannedTransport::Command { args, .. } => args.iter().flat_map(|arg| &arg.words).collect(),
            PlannedTransport::Remote { url, .. } => vec![url],
        };
        let keys = templates.into_iter().flat_map(Template::input_keys);
        keys.filter(|key| self.is_secret_input(key)).collect()
    }

    /// Returns the settings of the server that result from this plan and the user's values. `sandbox` is ignored for a
    /// remote server.
    ///
    /// # Errors
    ///
    /// Returns [`FillError::Inputs`] if values are missing or rejected, [`FillError::UnknownInput`] for a value without
    /// an input, [`FillError::Url`] or [`FillError::Header`] if the resulting URL or header is invalid, and
    /// [`FillError::NamesSecret`] if the plan itself refers to a secret, which only values that the user enters may do.
    pub fn fill(&self, values: &InputValues, sandbox: Option<SandboxConfig>) -> Result<NewServer, FillError> {
        if let Some(place) = self.part_with_secret_reference() {
            return Err(FillError::NamesSecret(place));
        }
        self.check_inputs(values)?;
        let filled = SubstitutionValues::new(&self.inputs, values);
        let mut secret_values = BTreeMap::new();
        let mut plain_values = BTreeMap::new();
        let templates = match &self.target {
            PlannedTransport::Command { env, .. } => env,
            PlannedTransport::Remote { headers, .. } => headers,
        };
        for (name, template) in templates {
            let Some(parts) = self.value_parts(template, &filled) else { continue };
            if template.input_keys().any(|key| self.is_secret_input(key)) {
                secret_values.insert(name.clone(), parts);
            } else {
                plain_values.insert(name.clone(), template.text(&filled, 0).unwrap_or_default());
            }
        }
        let config: ServerConfig = match &self.target {
            PlannedTransport::Command { command, args, .. } => StdioConfig {
                command: command.clone(),
                args: args.iter().flat_map(|arg| arg.expand(&filled)).collect(),
                env: plain_values,
                cwd: None,
                sandbox,
            }
            .into(),
            PlannedTransport::Remote { url, kind, headers } => {
                let url = url.text(&filled, 0).ok_or_else(|| FillError::Url("a part of it has no value".to_owned()))?;
                if let Some(problem) = server_url_problem(&url) {
                    return Err(FillError::Url(problem));
                }
                for (name, template) in headers {
                    let value = template.text(&filled, 0);
                    if let Some(problem) = value.and_then(|value| header_problem(name, &value)) {
                        return Err(FillError::Header(problem));
                    }
                }
                HttpConfig { url, headers: plain_values, kind: Some(*kind), auth: None }.into()
            }
        };
        let entry = ServerEntry { name: self.name.clone(), config };
        Ok(NewServer { entry, secret_values, client_secret: None })
    }

    fn check_inputs(&self, values: &InputValues) -> Result<(), FillError> {
        if let Some(unknown) = values.keys().find(|key| !self.inputs.iter().any(|input| input.key == **key)) {
            return Err(FillError::UnknownInput(unknown.clone()));
        }
        let filled = SubstitutionValues::new(&self.inputs, values);
        let problems = self.inputs.iter().filter_map(|input| {
            let values: Vec<String> = filled.values(&input.key).iter().map(|value| (*value).to_owned()).collect();
            Some((input.key.clone(), input.problem(&values)?))
        });
        let problems: BTreeMap<String, InputProblem> = problems.collect();
        if problems.is_empty() { Ok(()) } else { Err(FillError::Inputs(problems)) }
    }

    /// Returns the name of the first part of the plan that contains a reference to a secret (`${secret:NAME}`), or the
    /// beginning of one that a value would complete. Parsers of registry entries and bundles refuse such plans earlier,
    /// with a more specific message.
    fn part_with_secret_reference(&self) -> Option<String> {
        let offers = |input: &PlanInput| input.default.iter().chain(&input.choices).any(|text| refers_to_secret(text));
        if let Some(input) = self.inputs.iter().find(|input| offers(input)) {
            return Some(format!("what the input {:?} offers", input.key));
        }
        let is_bad = |template: &Template| template.refers_to_secret() || template.forms_secret_reference(&self.inputs);
        let named = |kind: &str, templates: &BTreeMap<String, Template>| {
            let bad = templates.iter().find(|(_, template)| is_bad(template));
            bad.map(|(name, _)| format!("the {kind} {name:?}"))
        };
        match &self.target {
            PlannedTransport::Command { command, args, env } => {
                let in_args = args.iter().flat_map(|arg| &arg.words).any(is_bad);
                (refers_to_secret(command) || in_args)
                    .then(|| "the command".to_owned())
                    .or_else(|| named("variable", env))
            }
            PlannedTransport::Remote { url, headers, .. } => {
                is_bad(url).then(|| "the URL".to_owned()).or_else(|| named("header", headers))
            }
        }
    }

    fn is_secret_input(&self, key: &str) -> bool {
        self.inputs.iter().any(|input| input.key == key && input.secret)
    }

    /// Returns the parts of a variable's or header's value, with secret values separated from text. Returns `None` if
    /// an input in its template has no value.
    fn value_parts(&self, template: &Template, values: &SubstitutionValues<'_>) -> Option<Vec<ValuePart>> {
        let part = |part: &TemplatePart| {
            Some(match part {
                TemplatePart::Text(text) => ValuePart::Text(text.clone()),
                TemplatePart::Needs(key) => values.value_at(key, 0).map(|_| ValuePart::Text(String::new()))?,
                TemplatePart::Input(key) => {
                    let value = values.value_at(key, 0)?.to_owned();
                    if self.is_secret_input(key) {
                        ValuePart::Secret(Some(value.into()))
                    } else {
                        ValuePart::Text(value)
                    }
                }
            })
        };
        template.parts.iter().map(part).collect()
    }
}
