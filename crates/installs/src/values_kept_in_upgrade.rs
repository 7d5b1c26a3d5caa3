//! Carries settings over from an installed server to its newer version: the values that the user filled in, and
//! variables and headers that the user added. Used by `installer`.

use std::collections::{BTreeMap, BTreeSet};

use ports::secrets;
use ports::server_config::{
    FilledInputs, HttpConfig, NewServer, SandboxConfig, ServerConfig, ServerTransport, StdioConfig, ValuePart,
};

use crate::input::SubstitutionValues;
use crate::{FillError, InputValues, InstallPlan, PlannedTransport, Template, TemplatePart};

/// Values of an installed server that an upgrade takes over into the new version.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ValuesKeptInUpgrade {
    /// Values of inputs that are not secret, by the keys of the new plan's inputs.
    pub values: InputValues,
    /// Keys of the new plan's secret inputs whose values are already in the keychain, because the installed server has
    /// them in the same variable or header.
    pub secrets: BTreeSet<String>,
    /// Current texts of variables or headers, by name: of those that contain secrets, and of those that the user added.
    texts: BTreeMap<String, String>,
}

impl InstallPlan {
    /// Returns those values of an installed server that this plan of another version can reuse.
    ///
    /// The value of each variable or header is compared with the plan's template. If it matches the template, its
    /// secrets are carried over. Values are never carried over to another origin.
    #[must_use]
    pub fn values_kept_from(&self, config: &ServerConfig, filled_in: &FilledInputs) -> ValuesKeptInUpgrade {
        let (templates, is_same_kind) = match (&self.target, &config.transport) {
            (PlannedTransport::Command { env, .. }, ServerTransport::Stdio(_)) => (env, true),
            (PlannedTransport::Remote { headers, .. }, ServerTransport::Http(_)) => (headers, true),
            (PlannedTransport::Command { env, .. }, _) => (env, false),
            (PlannedTransport::Remote { headers, .. }, _) => (headers, false),
        };
        let mut carried = ValuesKeptInUpgrade {
            values: self.values_accepted_by_inputs(&filled_in.values),
            ..ValuesKeptInUpgrade::default()
        };
        if !is_same_kind || self.changes_url_origin(config, &carried.values) {
            return self.only_command_or_url_values(carried);
        }
        for (name, value) in config.environment_or_headers() {
            match templates.get(name) {
                Some(template) => self.keep_matching_values(name, template, value, &mut carried),
                None if filled_in.names.contains(name) => {}
                None => _ = carried.texts.insert(name.clone(), value.clone()),
            }
        }
        let exposed: BTreeSet<String> = self.secret_inputs_outside_keychain().into_iter().map(str::to_owned).collect();
        // A secret used in several places is kept only if it is present in all of them.
        let is_everywhere = |key: &String| {
            templates.iter().all(|(name, template)| {
                !template.input_keys().any(|other| other == key) || carried.texts.contains_key(name)
            })
        };
        let secrets =
            carried.secrets.iter().filter(|key| !exposed.contains(*key) && is_everywhere(key)).cloned().collect();
        ValuesKeptInUpgrade { secrets, ..carried }
    }

    /// Returns the settings of the new version, with carried values from the installed server `was`. `sandbox` is used
    /// for a local server.
    ///
    /// `values` contains the values that the user entered for this upgrade. They take precedence over carried ones, and
    /// do not contain carried secrets.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`fill`](Self::fill).
    pub fn fill_for_upgrade(
        &self,
        values: &InputValues,
        carried: &ValuesKeptInUpgrade,
        was: &ServerConfig,
        sandbox: Option<SandboxConfig>,
    ) -> Result<NewServer, FillError> {
        let mut all = carried.values.clone();
        all.extend(values.clone());
        // The user may have entered another address.
        if self.changes_url_origin(was, &all) {
            let carried = self.only_command_or_url_values(carried.clone());
            all = carried.values;
            all.extend(values.clone());
            let mut server = self.fill(&all, sandbox)?;
            copy_user_restrictions(&mut server, was);
            return Ok(server);
        }
        // If another value in the same text changes, the stored text with the secret can't be reused.
        let templates = self.variable_or_header_templates();
        let is_untouched = |key: &String| {
            let own = templates.values().filter(|template| template.input_keys().any(|other| other == key));
            !values.contains_key(key)
                && own.into_iter().all(|own| !own.input_keys().any(|key| values.contains_key(key)))
        };
        let secrets: BTreeSet<String> = carried.secrets.iter().filter(|key| is_untouched(key)).cloned().collect();
        let mut plan = self.clone();
        for input in plan.inputs.iter_mut().filter(|input| secrets.contains(&input.key)) {
            (input.required, input.default) = (false, Vec::new());
        }
        let mut server = plan.fill(&all, sandbox)?;
        for (name, text) in &carried.texts {
            let is_carried =
                templates.get(name).is_none_or(|template| template.input_keys().any(|key| secrets.contains(key)));
            if !is_carried {
                continue;
            }
            let parts = secrets::split_secret_references(text);
            if parts.iter().any(|part| matches!(part, ValuePart::Secret(_))) {
                server.secret_values.insert(name.clone(), parts);
            } else {
                variables_or_headers(&mut server.entry.config).insert(name.clone(), text.clone());
            }
        }
        copy_user_restrictions(&mut server, was);
        match (&mut server.entry.config.transport, &was.transport) {
            (ServerTransport::Stdio(StdioConfig { cwd, .. }), ServerTransport::Stdio(was)) => cwd.clone_from(&was.cwd),
            (ServerTransport::Http(new), ServerTransport::Http(was)) => new.auth.clone_from(&was.auth),
            _ => {}
        }
        Ok(server)
    }

    /// Returns the values that the user entered, without secrets, to store them for the next upgrade.
    #[must_use]
    pub fn filled_inputs(&self, values: &InputValues) -> FilledInputs {
        let is_plain = |key: &String| self.inputs.iter().any(|input| input.key == *key && !input.secret);
        let values = values.iter().filter(|(key, _)| is_plain(key));
        FilledInputs {
            values: values.map(|(key, values)| (key.clone(), values.clone())).collect(),
            names: self.variable_or_header_templates().keys().cloned().collect(),
        }
    }

    /// Returns only those carried values that this plan uses in its command or URL, and not in variables or headers.
    fn only_command_or_url_values(&self, carried: ValuesKeptInUpgrade) -> ValuesKeptInUpgrade {
        let named: BTreeSet<&str> =
            self.variable_or_header_templates().values().flat_map(Template::input_keys).collect();
        let values = carried.values.into_iter().filter(|(key, _)| !named.contains(key.as_str())).collect();
        ValuesKeptInUpgrade { values, ..ValuesKeptInUpgrade::default() }
    }

    /// Returns the carried values that the page shows, by key of the input. `None` stands for a secret value, or for a
    /// value in a header, which may be a key.
    #[must_use]
    pub fn displayed_kept_values(&self, carried: &ValuesKeptInUpgrade) -> BTreeMap<String, Option<Vec<String>>> {
        let in_headers: BTreeSet<&str> = match &self.target {
            PlannedTransport::Remote { headers, .. } => headers.values().flat_map(Template::input_keys).collect(),
            PlannedTransport::Command { .. } => BTreeSet::new(),
        };
        let plain = carried
            .values
            .iter()
            .map(|(key, values)| (key.clone(), Some(values.clone()).filter(|_| !in_headers.contains(key.as_str()))));
        plain.chain(carried.secrets.iter().map(|key| (key.clone(), None))).collect()
    }

    fn variable_or_header_templates(&self) -> &BTreeMap<String, Template> {
        match &self.target {
            PlannedTransport::Command { env, .. } => env,
            PlannedTransport::Remote { headers, .. } => headers,
        }
    }

    /// Returns those of `values` that an input of this plan accepts.
    fn values_accepted_by_inputs(&self, values: &InputValues) -> InputValues {
        let usable = self.inputs.iter().filter(|input| !input.secret).filter_map(|input| {
            let values = values.get(&input.key).filter(|values| input.problem(values).is_none())?;
            Some((input.key.clone(), values.clone()))
        });
        usable.collect()
    }

    /// Returns `true` if this plan and these values result in a URL with another origin than that of the installed
    /// remote server.
    fn changes_url_origin(&self, config: &ServerConfig, values: &InputValues) -> bool {
        let (PlannedTransport::Remote { url, kind, .. }, Some(http)) = (&self.target, config.as_http()) else {
            return false;
        };
        let url = url.text(&SubstitutionValues::new(&self.inputs, values), 0).unwrap_or_default();
        HttpConfig { url, kind: Some(*kind), ..HttpConfig::default() }.origin() != http.origin()
    }

    /// Adds to `carried` the values of the inputs in one variable or header, if its current text `value` matches the
    /// plan's template.
    fn keep_matching_values(&self, name: &str, template: &Template, value: &str, carried: &mut ValuesKeptInUpgrade) {
        let Some(found) = template.extract_values(value) else { return };
        for (key, found) in found {
            let Some(input) = self.inputs.iter().find(|input| input.key == key) else { return };
            let names = secrets::referenced_secret_names(found);
            if input.secret {
                let is_one = matches!(names[..], [only] if secrets::secret_reference(only) == found);
                if !is_one {
                    return;
                }
                carried.secrets.insert(key.to_owned());
                carried.texts.insert(name.to_owned(), value.to_owned());
            } else if names.is_empty() && !input.multiple && input.problem(&[found.to_owned()]).is_none() {
                carried.values.insert(key.to_owned(), vec![found.to_owned()]);
            }
        }
    }
}

impl Template {
    /// Extracts the values of the inputs, by key, from a text that was created from this template. Returns `None` if
    /// the text doesn't match the template. A value ends at the first occurrence of the literal text after it.
    fn extract_values<'t>(&self, text: &'t str) -> Option<Vec<(&str, &'t str)>> {
        let (mut rest, mut found) = (text, Vec::new());
        let mut parts = self.parts.iter().filter(|part| !matches!(part, TemplatePart::Needs(_))).peekable();
        while let Some(part) = parts.next() {
            match part {
                TemplatePart::Text(text) => rest = rest.strip_prefix(text.as_str())?,
                TemplatePart::Input(key) => {
                    let end = match parts.peek() {
                        Some(TemplatePart::Text(behind)) => rest.find(behind.as_str())?,
                        // The boundary between two adjacent inputs is ambiguous.
                        Some(TemplatePart::Input(_)) => return None,
                        Some(TemplatePart::Needs(_)) | None => rest.len(),
                    };
                    found.push((key.as_str(), &rest[..end]));
                    rest = &rest[end..];
                }
                TemplatePart::Needs(_) => {}
            }
        }
        rest.is_empty().then_some(found)
    }
}

fn variables_or_headers(config: &mut ServerConfig) -> &mut BTreeMap<String, String> {
    match &mut config.transport {
        ServerTransport::Stdio(stdio) => &mut stdio.env,
        ServerTransport::Http(http) => &mut http.headers,
    }
}

/// Copies to the new version those settings of the installed server `was` that restrict it and that do not depend on
/// its address.
fn copy_user_restrictions(server: &mut NewServer, was: &ServerConfig) {
    server.entry.config.revision = was.revision;
    server.entry.config.tools.clone_from(&was.tools);
    server.entry.config.autostart = was.autostart;
}
