//! Separates the values of variables and headers into text, secrets and references.

use std::collections::BTreeMap;
use std::path::Path;

use ports::secrets;
use ports::server_config::{ImportNote, ImportNoteKind};
use secrecy::SecretString;

use super::{EnvironmentText, ImportedValueKind, PendingSecret, ValueSource, secret_removal};
use crate::app_environment::{AppEnvironment, OperatingSystem};
use crate::files::EnvFileVariable;
use crate::notes::{is_placeholder, printable_text, quoted_text};
use crate::secret_detection::{
    has_credential, has_secret, is_auth_scheme, is_client_id, is_empty_or_boolean, is_secret_name, is_secret_value,
};
use crate::server_candidate::ServerCandidate;
use crate::variables::{ReferenceSyntax, ReferenceTarget, ValueReference, find_references};

/// The values of a server's variables and headers, separated by kind, after their secrets were removed from the
/// configuration.
#[derive(Debug, Default)]
pub(crate) struct SeparatedValues {
    pub(crate) env: BTreeMap<String, ImportedValueKind>,
    pub(crate) headers: BTreeMap<String, ImportedValueKind>,
    pub(crate) secrets: BTreeMap<String, SecretString>,
    pub(crate) pending: BTreeMap<String, PendingSecret>,
    pub(crate) client_secret: Option<SecretString>,
    /// Sources of the values of variables and headers that the settings only refer to.
    pub(crate) sources: BTreeMap<String, ValueSource>,
    /// Set if the settings refer to the OAuth client's secret, but don't contain its value.
    pub(crate) lacks_client_secret: bool,
}

/// Replaces those references in a candidate whose values are known: the home folder, the path separator, and the
/// project folder, which is that of the candidate's file or, in the user's settings, the one that the user has chosen.
/// Returns `true` if a reference to the project folder remains, because the user has chosen none.
pub(crate) fn resolve_known_references(
    candidate: &mut ServerCandidate,
    syntax: ReferenceSyntax,
    environment: &AppEnvironment,
    project: Option<&str>,
) -> bool {
    let project = project.or_else(|| environment.workspace.as_deref().and_then(Path::to_str));
    let mut lacks_project = false;
    let home = environment.home.to_string_lossy().into_owned();
    let separator = if environment.runs_on == OperatingSystem::Windows { "\\" } else { "/" };
    let mut put = |text: &mut String| {
        for ValueReference { range, target } in find_references(text, syntax).into_iter().rev() {
            let known = match target {
                ReferenceTarget::Home => Some(home.as_str()),
                ReferenceTarget::Separator => Some(separator),
                ReferenceTarget::Workspace => {
                    lacks_project |= project.is_none();
                    project
                }
                _ => None,
            };
            if let Some(known) = known {
                text.replace_range(range, known);
            }
        }
    };
    let config = &mut candidate.config;
    put(&mut config.command);
    config.args.iter_mut().chain(config.env.values_mut()).for_each(&mut put);
    if let Some(mut cwd) = config.cwd.as_ref().and_then(|cwd| cwd.to_str()).map(str::to_owned) {
        put(&mut cwd);
        config.cwd = Some(cwd.into());
    }
    if let Some(remote) = &mut candidate.remote {
        put(&mut remote.url);
        remote.headers.values_mut().for_each(&mut put);
    }
    if let Some(file) = &mut candidate.extras.env_file {
        put(file);
    }
    lacks_project
}

/// Adds a variable to the candidate for each name in the environment file that the entry refers to. Returns the sources
/// of their values, or `None` for a value that can't be taken from the file. An import takes them only if the user
/// chooses so, since another program may change the file.
pub(crate) fn add_env_file_variables(
    candidate: &mut ServerCandidate,
    variables: &dyn Fn(&str) -> Option<Vec<EnvFileVariable>>,
) -> BTreeMap<String, Option<ValueSource>> {
    let mut sources = BTreeMap::new();
    let Some(file) = candidate.extras.env_file.take() else { return sources };
    let Some(variables) = variables(&file) else {
        let note = format!("its app reads variables from {}, which was not read", quoted_text(&file));
        candidate.notes.push(ImportNote::new(ImportNoteKind::EnvFile, note).with_names([file]));
        return sources;
    };
    let shown: Vec<String> = variables.iter().take(20).map(|variable| quoted_text(&variable.name)).collect();
    let note = format!("its app reads variables from {}: {}", quoted_text(&file), shown.join(", "));
    let note = ImportNote::new(ImportNoteKind::EnvFile, note);
    let names = variables.iter().map(|variable| &variable.name);
    candidate.notes.push(note.with_names(std::iter::once(&file).chain(names)));
    for EnvFileVariable { name, value } in variables {
        // If the entry itself has the value, the file does not replace it. In the file, the last line counts.
        if sources.contains_key(&name) || !candidate.config.env.contains_key(&name) {
            candidate.config.env.insert(name.clone(), format!("${{{name}}}"));
            let source = value.map(|value| ValueSource::File { path: printable_text(&file), value });
            sources.insert(name.clone(), source);
        }
        candidate.extras.names_without_value.insert(name);
    }
    sources
}

/// Removes the secrets from the values of a server's variables and headers. Returns the secrets, and the kind of each
/// value. `file_sources` contains the sources of the variables in an environment file.
pub(crate) fn separate_secrets(
    candidate: &mut ServerCandidate,
    syntax: ReferenceSyntax,
    mut file_sources: BTreeMap<String, Option<ValueSource>>,
) -> SeparatedValues {
    let mut separated = SeparatedValues::default();
    secret_removal::move_container_variables(&mut candidate.config);
    let is_remote = candidate.remote.is_some();
    let values = match &mut candidate.remote {
        Some(remote) => &mut remote.headers,
        None => &mut candidate.config.env,
    };
    let mut notes = Vec::new();
    let names: Vec<String> = values.keys().cloned().collect();
    for name in names {
        // A name is stored in a file, so it must not contain a secret.
        if has_secret(&name) {
            values.remove(&name);
            let note = "a value was ignored, because its name looks like a secret";
            notes.push(ImportNote::new(ImportNoteKind::SecretName, note));
            continue;
        }
        let Some(value) = values.get_mut(&name) else { continue };
        // A file of another app must not be able to use Drawbridge's stored secrets.
        let names_own = !secrets::referenced_secret_names(value).is_empty();
        let is_named_only = candidate.extras.names_without_value.contains(&name);
        let is_in_keychain = candidate.extras.in_keychain.contains(&name);
        let found = find_references(value, if names_own || is_named_only { ReferenceSyntax::Any } else { syntax });
        let kind = value_kind(&name, value, &found);
        let source = match file_sources.remove(&name) {
            Some(source) if !is_remote => source,
            // A file of another app must not choose which of Drawbridge's secrets is read.
            _ if names_own => None,
            _ => EnvironmentText::new(value, &found).map(ValueSource::Environment),
        };
        let source = source.filter(|_| kind == ImportedValueKind::Reference);
        separated.sources.extend(source.map(|source| (name.clone(), source)));
        let is_password = found.iter().any(|reference| {
            matches!(reference.target, ReferenceTarget::Secret(_)) || candidate.extras.is_password(reference)
        });
        for reference in &found {
            let what = match &reference.target {
                ReferenceTarget::File => "reads a file",
                ReferenceTarget::Command => "runs a command",
                _ => continue,
            };
            let note = format!("for {} its app {what}, which Drawbridge does not: enter the value", quoted_text(&name));
            notes.push(ImportNote::new(ImportNoteKind::NotFollowed, note).with_names([&name]));
        }
        match kind {
            // The user has to enter the secret, since the placeholder would be used otherwise.
            ImportedValueKind::Secret if is_placeholder(value) && !has_secret(value) => {
                separated.pending.insert(name.clone(), secret_after_scheme(value));
                values.remove(&name);
                let note = format!("enter the value of {}, for which its app has a placeholder", quoted_text(&name));
                notes.push(ImportNote::new(ImportNoteKind::EnterValue, note).with_names([&name]));
            }
            ImportedValueKind::Secret => {
                separated.secrets.insert(name.clone(), std::mem::take(value).into());
                values.remove(&name);
            }
            ImportedValueKind::Reference if is_secret_name(&name) || is_password || names_own || is_in_keychain => {
                separated.pending.insert(name.clone(), pending_secret(value, &found));
                values.remove(&name);
                let note = format!("enter the value of {}, which its app stores elsewhere", quoted_text(&name));
                notes.push(ImportNote::new(ImportNoteKind::EnterValue, note).with_names([&name]));
            }
            ImportedValueKind::Reference | ImportedValueKind::Literal => {}
        }
        let kinds = if is_remote { &mut separated.headers } else { &mut separated.env };
        kinds.insert(name, kind);
    }
    candidate.notes.extend(notes);
    if let Some(auth) = candidate.remote.as_mut().and_then(|remote| remote.auth.as_mut())
        && let Some(secret) = auth.client_secret.take()
    {
        if find_references(&secret, ReferenceSyntax::Any).is_empty() {
            separated.client_secret = Some(secret.into());
        } else {
            separated.lacks_client_secret = true;
            candidate
                .notes
                .add(ImportNoteKind::EnterValue, "enter the secret of its client, which its app stores elsewhere");
        }
    }
    separated
}

/// Determines the kind of a variable's or header's value. In a value with references, the text around them and their
/// default values can be secret.
fn value_kind(name: &str, value: &str, found: &[ValueReference]) -> ImportedValueKind {
    if found.is_empty() {
        return if is_secret_value(name, value) { ImportedValueKind::Secret } else { ImportedValueKind::Literal };
    }
    let mut beside = value.to_owned();
    let mut defaults = Vec::new();
    for ValueReference { range, target } in found.iter().rev() {
        beside.replace_range(range.clone(), " ");
        if let ReferenceTarget::Environment { default: Some(default), .. } = target {
            defaults.push(default.as_str());
        }
    }
    let is_value = |text: &str| !is_empty_or_boolean(text.trim()) && !is_auth_scheme(text.trim());
    let is_secret = |text: &str| {
        let by_itself = if is_client_id(name) { has_credential(text) } else { has_secret(text) };
        by_itself || (is_secret_name(name) && is_value(text))
    };
    let any = (!is_client_id(name) && has_secret(value)) || is_secret(&beside) || defaults.into_iter().any(is_secret);
    if any { ImportedValueKind::Secret } else { ImportedValueKind::Reference }
}

/// Returns a pending secret for a header value that has to be entered again, with its authentication scheme, such as
/// `Bearer `, as the text before the secret.
fn secret_after_scheme(value: &str) -> PendingSecret {
    let scheme = value.split_once(' ').map(|(scheme, _)| scheme).filter(|scheme| is_auth_scheme(scheme));
    PendingSecret { before: scheme.map(|scheme| format!("{scheme} ")).unwrap_or_default(), after: String::new() }
}

/// Returns a pending secret that replaces everything from the first to the last reference in a value.
fn pending_secret(value: &str, found: &[ValueReference]) -> PendingSecret {
    let (Some(first), Some(last)) = (found.first(), found.last()) else { return PendingSecret::default() };
    let (before, after) = (&value[..first.range.start], &value[last.range.end..]);
    // References beyond the maximum number are not found. A reference to one of Drawbridge's secrets would therefore
    // remain in the text.
    if !secrets::referenced_secret_names(before).is_empty() || !secrets::referenced_secret_names(after).is_empty() {
        return PendingSecret::default();
    }
    PendingSecret { before: before.to_owned(), after: after.to_owned() }
}
