//! What a newer version of a server takes over from the one that is set up: the values that were filled in, and what the user added. Caller:
//! `installer`.

use std::collections::{BTreeMap, BTreeSet};

use ports::secrets;
use ports::server_config::{
    FilledIn, HttpConfig, NewServer, SandboxConfig, ServerConfig, ServerTransport, StdioConfig, ValuePart,
};

use crate::input::Values;
use crate::{FillError, InputValues, InstallPlan, PlanTarget, Template, TemplatePart};

/// What is taken over.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct KeptValues {
    /// The values of inputs that are no secrets, by key.
    pub values: InputValues,
    /// The keys of secret inputs whose values lie in the keychain, and are meant for where the plan puts them.
    pub secrets: BTreeSet<String>,
    /// Variables or headers as they are in the settings, by name: those with the secrets, and those that the user added.
    texts: BTreeMap<String, String>,
}

impl InstallPlan {
    /// What of the server that is set up fits into this plan. A variable or header is compared with what the plan would put there: its secrets are
    /// kept where it has the same form. Nothing that was entered for one address is kept for another.
    #[must_use]
    pub fn kept_from(&self, config: &ServerConfig, filled_in: &FilledIn) -> KeptValues {
        let (templates, is_same_kind) = match (&self.target, &config.transport) {
            (PlanTarget::Command { env, .. }, ServerTransport::Stdio(_)) => (env, true),
            (PlanTarget::Remote { headers, .. }, ServerTransport::Http(_)) => (headers, true),
            (PlanTarget::Command { env, .. }, _) => (env, false),
            (PlanTarget::Remote { headers, .. }, _) => (headers, false),
        };
        let mut kept = KeptValues { values: self.usable(&filled_in.values), ..KeptValues::default() };
        if !is_same_kind || self.leads_elsewhere(config, &kept.values) {
            return self.without_named(kept);
        }
        for (name, value) in config.values() {
            match templates.get(name) {
                Some(template) => self.take_over(name, template, value, &mut kept),
                None if filled_in.names.contains(name) => {}
                None => _ = kept.texts.insert(name.clone(), value.clone()),
            }
        }
        let exposed: BTreeSet<String> = self.exposed_secrets().into_iter().map(str::to_owned).collect();
        // A secret that goes to several places is kept if it is there in all of them.
        let is_everywhere = |key: &String| {
            templates
                .iter()
                .all(|(name, template)| !template.keys().any(|other| other == key) || kept.texts.contains_key(name))
        };
        let secrets =
            kept.secrets.iter().filter(|key| !exposed.contains(*key) && is_everywhere(key)).cloned().collect();
        KeptValues { secrets, ..kept }
    }

    /// The server that takes the place of the one that is set up as `was`, in this sandbox if it is a local one. `values` are what the user entered
    /// now, and count more than what is kept; a secret that is kept has no value in it.
    ///
    /// # Errors
    /// As [`fill`](Self::fill).
    pub fn fill_keeping(
        &self,
        values: &InputValues,
        kept: &KeptValues,
        was: &ServerConfig,
        sandbox: Option<SandboxConfig>,
    ) -> Result<NewServer, FillError> {
        let mut all = kept.values.clone();
        all.extend(values.clone());
        // The user may have entered another address.
        if self.leads_elsewhere(was, &all) {
            let kept = self.without_named(kept.clone());
            all = kept.values;
            all.extend(values.clone());
            return self.fill(&all, sandbox);
        }
        // With another value beside it, the text of a secret can't stay as it is.
        let templates = self.named_templates();
        let is_untouched = |key: &String| {
            let own = templates.values().filter(|template| template.keys().any(|other| other == key));
            !values.contains_key(key) && own.into_iter().all(|own| !own.keys().any(|key| values.contains_key(key)))
        };
        let secrets: BTreeSet<String> = kept.secrets.iter().filter(|key| is_untouched(key)).cloned().collect();
        let mut plan = self.clone();
        for input in plan.inputs.iter_mut().filter(|input| secrets.contains(&input.key)) {
            (input.required, input.default) = (false, Vec::new());
        }
        let mut server = plan.fill(&all, sandbox)?;
        for (name, text) in &kept.texts {
            let is_kept = templates.get(name).is_none_or(|template| template.keys().any(|key| secrets.contains(key)));
            if !is_kept {
                continue;
            }
            let parts = secrets::value_parts(text);
            if parts.iter().any(|part| matches!(part, ValuePart::Secret(_))) {
                server.secret_values.insert(name.clone(), parts);
            } else {
                values_of(&mut server.entry.config).insert(name.clone(), text.clone());
            }
        }
        server.entry.config.revision = was.revision;
        match (&mut server.entry.config.transport, &was.transport) {
            (ServerTransport::Stdio(StdioConfig { cwd, .. }), ServerTransport::Stdio(was)) => cwd.clone_from(&was.cwd),
            (ServerTransport::Http(new), ServerTransport::Http(was)) => new.auth.clone_from(&was.auth),
            _ => {}
        }
        Ok(server)
    }

    /// What is to be remembered of these values for the next version: not the secret ones.
    #[must_use]
    pub fn filled_in(&self, values: &InputValues) -> FilledIn {
        let is_plain = |key: &String| self.inputs.iter().any(|input| input.key == *key && !input.secret);
        let values = values.iter().filter(|(key, _)| is_plain(key));
        FilledIn {
            values: values.map(|(key, values)| (key.clone(), values.clone())).collect(),
            names: self.named_templates().keys().cloned().collect(),
        }
    }

    /// Without what stands in variables or headers.
    fn without_named(&self, kept: KeptValues) -> KeptValues {
        let named: BTreeSet<&str> = self.named_templates().values().flat_map(Template::keys).collect();
        let values = kept.values.into_iter().filter(|(key, _)| !named.contains(key.as_str())).collect();
        KeptValues { values, ..KeptValues::default() }
    }

    /// The values that are kept, by key, as they may be shown: without those of secrets, and of what goes into a header, which may be a key.
    #[must_use]
    pub fn shown_values(&self, kept: &KeptValues) -> BTreeMap<String, Option<Vec<String>>> {
        let in_headers: BTreeSet<&str> = match &self.target {
            PlanTarget::Remote { headers, .. } => headers.values().flat_map(Template::keys).collect(),
            PlanTarget::Command { .. } => BTreeSet::new(),
        };
        let plain = kept
            .values
            .iter()
            .map(|(key, values)| (key.clone(), Some(values.clone()).filter(|_| !in_headers.contains(key.as_str()))));
        plain.chain(kept.secrets.iter().map(|key| (key.clone(), None))).collect()
    }

    fn named_templates(&self) -> &BTreeMap<String, Template> {
        match &self.target {
            PlanTarget::Command { env, .. } => env,
            PlanTarget::Remote { headers, .. } => headers,
        }
    }

    /// Those of the values that this plan asks for and accepts.
    fn usable(&self, values: &InputValues) -> InputValues {
        let usable = self.inputs.iter().filter(|input| !input.secret).filter_map(|input| {
            let values = values.get(&input.key).filter(|values| input.problem(values).is_none())?;
            Some((input.key.clone(), values.clone()))
        });
        usable.collect()
    }

    /// Whether a remote server would be asked at another origin than now.
    fn leads_elsewhere(&self, config: &ServerConfig, values: &InputValues) -> bool {
        let (PlanTarget::Remote { url, kind, .. }, Some(http)) = (&self.target, config.as_http()) else { return false };
        let url = url.text(&Values::new(&self.inputs, values), 0).unwrap_or_default();
        HttpConfig { url, kind: Some(*kind), ..HttpConfig::default() }.origin() != http.origin()
    }

    /// Takes over what stands in one variable or header, if it has the form of the template.
    fn take_over(&self, name: &str, template: &Template, value: &str, kept: &mut KeptValues) {
        let Some(found) = template.values_in(value) else { return };
        for (key, found) in found {
            let Some(input) = self.inputs.iter().find(|input| input.key == key) else { return };
            let names = secrets::names(found);
            if input.secret {
                let is_one = matches!(names[..], [only] if secrets::reference(only) == found);
                if !is_one {
                    return;
                }
                kept.secrets.insert(key.to_owned());
                kept.texts.insert(name.to_owned(), value.to_owned());
            } else if names.is_empty() && !input.multiple && input.problem(&[found.to_owned()]).is_none() {
                kept.values.insert(key.to_owned(), vec![found.to_owned()]);
            }
        }
    }
}

impl Template {
    /// The values of its inputs in a text that was made of it, by key. None if it was not, as far as can be told: a value ends where the text
    /// behind it begins.
    fn values_in<'t>(&self, text: &'t str) -> Option<Vec<(&str, &'t str)>> {
        let (mut rest, mut found) = (text, Vec::new());
        let mut parts = self.parts.iter().filter(|part| !matches!(part, TemplatePart::Needs(_))).peekable();
        while let Some(part) = parts.next() {
            match part {
                TemplatePart::Text(text) => rest = rest.strip_prefix(text.as_str())?,
                TemplatePart::Input(key) => {
                    let end = match parts.peek() {
                        Some(TemplatePart::Text(behind)) => rest.find(behind.as_str())?,
                        // Where one ends and the next begins nobody can tell.
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

fn values_of(config: &mut ServerConfig) -> &mut BTreeMap<String, String> {
    match &mut config.transport {
        ServerTransport::Stdio(stdio) => &mut stdio.env,
        ServerTransport::Http(http) => &mut http.headers,
    }
}
