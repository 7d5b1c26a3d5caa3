//! Parses the parts of an entry that belong to a [`ServerConfig`](ports::server_config::ServerConfig).

use std::path::PathBuf;

use jsonc_parser::ast::{Array, Object, Value};
use ports::server_config::{ConfigProblem, HttpConfig, ImportNote, ImportNoteKind};

use super::{URL_KEYS, auth, sandbox, sign_in};
use crate::json_text::{JsonText, present_property, value_type_name};
use crate::notes::{omitted_setting_note, quoted_text};
use crate::server_candidate::ServerCandidate;

/// Keys of the object or list of environment variables in an entry.
const ENVIRONMENT_KEYS: [&str; 3] = ["env", "envs", "environment"];
/// Keys of the object of HTTP headers in an entry. In Continue, this object is in `requestOptions`.
const HEADER_KEYS: [&str; 2] = ["headers", "http_headers"];
/// Maximum number of items in each list or object of an entry, such as its arguments, variables or headers.
const MAX_ENTRY_ITEMS: usize = 1_000;

/// Parses the settings in a server's entry, and stores them in the server candidate `found`.
pub(super) struct EntryReader<'r, 't> {
    pub(super) text: &'r JsonText<'t>,
    pub(super) found: &'r mut ServerCandidate,
}

impl EntryReader<'_, '_> {
    /// Parses the arguments, variables, working directory and sandbox of a local server.
    pub(super) fn read_local(&mut self, object: &Object<'_>) -> Result<(), ConfigProblem> {
        if let Some(args) = present_property(object, "args") {
            let Value::Array(list) = &args.value else {
                return Err(self.wrong_type_problem(&args.value, "args", "a list of texts"));
            };
            let args = self.read_texts(list, "args")?;
            self.found.config.args.extend(args);
        }
        for key in ENVIRONMENT_KEYS {
            let Some(env) = present_property(object, key) else { continue };
            let map = self.require_map(&env.value, key)?;
            for property in &map.properties {
                let name = property.name.as_str();
                if name.is_empty() || name.contains('=') || name.contains(char::is_control) {
                    let message = format!(
                        "{} is not a name for a variable: it must not be empty and have no \"=\" or control characters",
                        quoted_text(name)
                    );
                    return Err(self.text.problem(property.range.start, message));
                }
                let value = match &property.value {
                    Value::NullKeyword(_) => String::new(),
                    value => self.read_text(value, name)?,
                };
                self.found.config.env.insert(name.to_owned(), value);
            }
        }
        // Codex lists names of variables in its environment, as strings or objects. goose lists names of values in its
        // keychain.
        for key in ["env_vars", "env_keys"] {
            for name in self.read_names(object, key)? {
                self.found.config.env.entry(name.clone()).or_insert_with(|| variable_reference(&name));
                if key == "env_keys" {
                    self.found.extras.in_keychain.insert(name.clone());
                }
                self.found.extras.names_without_value.insert(name);
            }
        }
        if let Some(cwd) = present_property(object, "cwd") {
            let folder = self.read_text(&cwd.value, "cwd")?;
            self.found.config.cwd = Some(folder).filter(|folder| !folder.is_empty()).map(PathBuf::from);
        }
        // Other apps use this key for other settings. If some keys are unknown, none are applied, since the result
        // would be a sandbox that the user did not configure.
        if let Some(key) = sandbox::first_unknown_sandbox_key(object) {
            let reason = format!("{key:?} is of another app");
            self.found.notes.push(omitted_setting_note(sandbox::SANDBOX_KEY, &reason));
            return Ok(());
        }
        match sandbox::parse_sandbox(self.text, &quoted_text(sandbox::SANDBOX_KEY), object) {
            Ok(None) => {}
            Ok(sandbox) => self.found.config.sandbox = sandbox,
            Err(problem) => self.found.notes.push(omitted_setting_note(sandbox::SANDBOX_KEY, &problem.message)),
        }
        Ok(())
    }

    /// Parses the URL, headers and sign-in settings of a remote server.
    pub(super) fn read_http(&mut self, object: &Object<'_>) -> Result<HttpConfig, ConfigProblem> {
        let mut config = HttpConfig::default();
        if let Some(url) = URL_KEYS.iter().find_map(|key| present_property(object, key)) {
            config.url = self.read_text(&url.value, url.name.as_str())?;
        }
        let options = object.get_object("requestOptions");
        let places = HEADER_KEYS.iter().filter_map(|key| present_property(object, key));
        for headers in places.chain(options.and_then(|options| present_property(options, "headers"))) {
            let map = self.require_map(&headers.value, "headers")?;
            for property in &map.properties {
                let name = property.name.as_str();
                let value = self.read_text(&property.value, name)?;
                config.headers.insert(name.to_owned(), value);
            }
        }
        if let Some(headers) = present_property(object, "env_http_headers") {
            let map = self.require_map(&headers.value, "env_http_headers")?;
            for property in &map.properties {
                let name = property.name.as_str();
                let value = variable_reference(&self.read_text(&property.value, name)?);
                config.headers.insert(name.to_owned(), value);
                self.found.extras.names_without_value.insert(name.to_owned());
            }
        }
        self.read_bearer_token(object, &mut config)?;
        let known = sign_in::parse_oauth_client(self.text, object)?;
        if known.is_some() {
            config.auth = known;
            return Ok(config);
        }
        // Other programs may use this key for other settings.
        match auth::parse_auth(self.text, &quoted_text(auth::AUTH_KEY), object) {
            Ok(auth) => config.auth = auth,
            Err(problem) => self.found.notes.push(omitted_setting_note(auth::AUTH_KEY, &problem.message)),
        }
        Ok(config)
    }

    /// Parses the bearer token in Codex's settings: the name of an environment variable or, although Codex forbids it,
    /// the token itself.
    fn read_bearer_token(&mut self, object: &Object<'_>, config: &mut HttpConfig) -> Result<(), ConfigProblem> {
        const HEADER_NAME: &str = "Authorization";
        if let Some(name) = present_property(object, "bearer_token_env_var") {
            let name = self.read_text(&name.value, "bearer_token_env_var")?;
            config.headers.insert(HEADER_NAME.to_owned(), format!("Bearer {}", variable_reference(&name)));
            self.found.extras.names_without_value.insert(HEADER_NAME.to_owned());
        }
        if let Some(token) = present_property(object, "bearer_token") {
            let token = self.read_text(&token.value, "bearer_token")?;
            config.headers.insert(HEADER_NAME.to_owned(), format!("Bearer {token}"));
            let note = "\"bearer_token\" is refused by Codex itself; it is the header Authorization";
            self.found.notes.add(ImportNoteKind::CodexToken, note);
        }
        Ok(())
    }

    pub(super) fn read_texts(&mut self, list: &Array<'_>, key: &str) -> Result<Vec<String>, ConfigProblem> {
        if list.elements.len() > MAX_ENTRY_ITEMS {
            return Err(self
                .text
                .problem(list.range.start, format!("{} has more than {MAX_ENTRY_ITEMS} items", quoted_text(key))));
        }
        list.elements.iter().map(|value| self.read_text(value, key)).collect()
    }

    /// Parses a list of variable names. Each item is a string, or an object with a `name`.
    fn read_names(&mut self, object: &Object<'_>, key: &str) -> Result<Vec<String>, ConfigProblem> {
        let Some(list) = present_property(object, key) else { return Ok(Vec::new()) };
        let Value::Array(list) = &list.value else {
            return Err(self.wrong_type_problem(&list.value, key, "a list of names"));
        };
        let mut names = Vec::new();
        for value in list.elements.iter().take(MAX_ENTRY_ITEMS) {
            let value =
                value.as_object().and_then(|object| present_property(object, "name")).map_or(value, |name| &name.value);
            names.push(self.read_text(value, key)?);
        }
        names.retain(|name| !name.is_empty() && !name.contains('=') && !name.contains(char::is_control));
        Ok(names)
    }

    fn require_map<'v, 'a>(&self, value: &'v Value<'a>, key: &str) -> Result<&'v Object<'a>, ConfigProblem> {
        let Value::Object(map) = value else { return Err(self.wrong_type_problem(value, key, "an object of texts")) };
        if map.properties.len() > MAX_ENTRY_ITEMS {
            return Err(self
                .text
                .value_problem(value, format!("{} has more than {MAX_ENTRY_ITEMS} items", quoted_text(key))));
        }
        self.text.reject_duplicate_keys(map, &quoted_text(key))?;
        Ok(map)
    }

    /// Parses a string. Numbers and booleans are converted, since users write them without quotes.
    pub(super) fn read_text(&mut self, value: &Value<'_>, key: &str) -> Result<String, ConfigProblem> {
        let (text, plain) = match value {
            Value::StringLit(literal) => (literal.value.clone().into_owned(), false),
            Value::NumberLit(literal) => (literal.value.to_owned(), true),
            Value::BooleanLit(literal) => (literal.value.to_string(), true),
            other => return Err(self.wrong_type_problem(other, key, "a text")),
        };
        if text.contains('\0') {
            let message = format!("{} has a NUL character, which no program accepts", quoted_text(key));
            return Err(self.text.value_problem(value, message));
        }
        // Other apps accept unquoted values in their settings files, so a note is only added for pasted text.
        if plain && self.text.file.is_none() {
            let note = format!("{} has {text} without quotes; it is read as text", quoted_text(key));
            self.found.notes.push(ImportNote::new(ImportNoteKind::Unquoted, note).with_names([key]));
        }
        Ok(text)
    }

    fn wrong_type_problem(&self, value: &Value<'_>, key: &str, expected: &str) -> ConfigProblem {
        let whose =
            self.found.name.as_deref().map(|name| format!(" of server {}", quoted_text(name))).unwrap_or_default();
        let message = format!("{}{whose} must be {expected}, found {}", quoted_text(key), value_type_name(value));
        self.text.value_problem(value, message)
    }
}

/// Returns the reference `${NAME}` to an environment variable, for an entry that contains only the variable's name.
fn variable_reference(name: &str) -> String {
    format!("${{{name}}}")
}
