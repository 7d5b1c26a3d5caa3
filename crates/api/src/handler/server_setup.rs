//! Conversion of server configurations between the API types and the host's types.
//!
//! Secret values of headers and environment variables are moved to the keychain. Header values and secret variables are
//! never returned.

mod auth;
mod environment;

use std::collections::BTreeMap;
use std::path::PathBuf;

use ports::server_config::{
    HttpConfig, HttpKind as HostKind, SandboxConfig, ServerConfig as HostConfig, ServerEntry, ServerTransport,
    StdioConfig,
};
use ports::{SecretPersistence, secrets};

use super::{Api, containment, errors};
use crate::data::*;
use crate::{ApiError, ErrorCode};

pub(super) async fn add_server(api: &Api, r: AddServer) -> Result<SecretStorageReport, ApiError> {
    let setup = api.host.begin_setup().await?;
    let requested = convert_requested_config(r.config, &r.name, None, setup.secret_names_of_others(&r.name))?;
    let entry = ServerEntry { name: r.name, config: requested.config };
    Ok(secret_storage_report(setup.add(entry, requested.secrets).await?))
}

pub(super) async fn update_server(api: &Api, r: UpdateServer) -> Result<SecretStorageReport, ApiError> {
    let setup = api.host.begin_setup().await?;
    let was = setup.config(&r.server)?;
    let requested = convert_requested_config(r.config, &r.name, Some(was), setup.secret_names_of_others(&r.server))?;
    let entry = ServerEntry { name: r.name, config: requested.config };
    Ok(secret_storage_report(setup.update(&r.server, entry, requested.secrets).await?))
}

pub(super) async fn remove_server(api: &Api, server: String) -> Result<EmptyObject, ApiError> {
    match &api.installer {
        Some(installer) => installer.remove(&api.host, &server).await?,
        None => api.host.begin_setup().await?.remove(&server).await?,
    }
    Ok(EmptyObject {})
}

/// Replaces a stored secret: the value of a header or environment variable, or a secret of the sign-in settings.
///
/// If another server uses the same secret, the new value is stored under a new name, and the other server keeps the
/// existing value.
pub(super) async fn set_secret(api: &Api, r: SetSecret) -> Result<SecretStorageReport, ApiError> {
    let setup = api.host.begin_setup().await?;
    let mut config = setup.config(&r.server)?.clone();
    let place = config.secret_binding().ok_or_else(|| invalid_input_error("the URL of the server is not valid"))?;
    let value = match &config.transport {
        ServerTransport::Http(HttpConfig { headers, auth: Some(auth), .. })
            if !headers.contains_key(&r.header) && auth.secret_names().any(|name| name == r.header) =>
        {
            auth::check_sign_in_secret(&r.value)?;
            let secret = (secrets::secret_storage_key(&r.header, &place), r.value);
            return Ok(secret_storage_report(setup.set_sign_in_secret(r.server, secret).await?));
        }
        ServerTransport::Http(http) => {
            let value = http.headers.get(&r.header).ok_or_else(|| errors::not_found_error("this header"))?;
            check_http_header(&r.header, &r.value)?;
            value
        }
        ServerTransport::Stdio(stdio) => {
            let value = stdio.env.get(&r.header).ok_or_else(|| errors::not_found_error("this variable"))?;
            environment::check_secret_variable(&r.header, &r.value)?;
            value
        }
    };
    let names = secrets::referenced_secret_names(value);
    let [name] = names[..] else {
        return Err(invalid_input_error("this value does not consist of one secret: change it in the settings file"));
    };
    let mut key = secrets::secret_storage_key(name, &place);
    let mut renamed = None;
    if setup.is_secret_used_by_others(&r.server, &key) {
        let taken = setup.secret_names_of_others(&r.server);
        let own =
            secret_name_of_header_or_variable(&r.server, &r.header, Some(config.environment_or_headers()), &taken);
        key = secrets::secret_storage_key(&own, &place);
        let value = value.replace(&secrets::secret_reference(name), &secrets::secret_reference(&own));
        match &mut config.transport {
            ServerTransport::Http(http) => http.headers.insert(r.header, value),
            ServerTransport::Stdio(stdio) => stdio.env.insert(r.header, value),
        };
        renamed = Some(ServerEntry { name: r.server.clone(), config });
    }
    Ok(secret_storage_report(setup.set_secret(r.server, renamed, (key, r.value)).await?))
}

pub(super) fn secret_storage_report(persistence: SecretPersistence) -> SecretStorageReport {
    let only_this_run = match persistence {
        SecretPersistence::Keychain => None,
        SecretPersistence::ThisRun { cause } => Some(cause),
    };
    SecretStorageReport { only_this_run }
}

fn invalid_input_error(message: impl Into<String>) -> ApiError {
    ApiError::new(ErrorCode::Invalid, message)
}

fn check_http_header(name: &str, value: &str) -> Result<(), ApiError> {
    ports::server_config::header_problem(name, value).map_or(Ok(()), |problem| Err(invalid_input_error(problem)))
}

/// Server configuration, converted from a request to the host's type, with the storage key and the value of each secret
/// to write to the keychain.
struct ServerConfigWithSecrets {
    config: HostConfig,
    secrets: Vec<(String, String)>,
}

/// Converts a server configuration from a request to the host's type, and separates its secrets.
///
/// `was` is the current configuration. The current header values are kept if the page sends none. `taken` contains the
/// names of secrets that other servers use.
fn convert_requested_config(
    config: ServerConfig,
    server: &str,
    was: Option<&HostConfig>,
    taken: Vec<String>,
) -> Result<ServerConfigWithSecrets, ApiError> {
    let before = was.cloned().unwrap_or_default();
    let (transport, revision, tools, autostart, secrets) = match config {
        ServerConfig::Stdio { command, args, env, secret_env, cwd, sandbox, revision, tools, autostart } => {
            let cwd = cwd.filter(|cwd| !cwd.is_empty()).map(PathBuf::from);
            let sandbox = sandbox.map(containment::to_sandbox_config).transpose()?;
            if let Some(problem) = sandbox.as_ref().and_then(SandboxConfig::problem) {
                return Err(invalid_input_error(problem));
            }
            let mut stdio = StdioConfig { command, args, env, cwd, sandbox };
            let secrets =
                environment::move_secrets_to_keychain(&mut stdio, &secret_env.unwrap_or_default(), server, was, taken)?;
            (ServerTransport::Stdio(stdio), revision, tools, autostart, secrets)
        }
        ServerConfig::Http { url, headers, kind, auth, revision, tools, autostart } => {
            let kind = kind.map(to_host_http_kind);
            let was = was.and_then(HostConfig::as_http);
            let mut http = HttpConfig { url, kind, ..HttpConfig::default() };
            let mut secrets = apply_requested_headers(&mut http, headers, server, was, taken.clone())?;
            let taken: Vec<String> =
                taken.into_iter().chain(secrets::all_referenced_secret_names(&http.headers)).collect();
            secrets.extend(auth::apply_auth_settings(&mut http, auth, server, was, &taken)?);
            (ServerTransport::Http(http), revision, tools, autostart, secrets)
        }
    };
    let revision = revision
        .filter(|text| !text.is_empty())
        .map(|text| text.parse().map_err(|e: mcp_proto::revision::UnknownRevision| invalid_input_error(e.to_string())))
        .transpose()?;
    let tools = tools.unwrap_or(before.tools);
    if let Some(problem) = tools.problem() {
        return Err(invalid_input_error(problem));
    }
    let autostart = autostart.unwrap_or(before.autostart);
    Ok(ServerConfigWithSecrets { config: HostConfig { transport, revision, tools, autostart }, secrets })
}

fn apply_requested_headers(
    http: &mut HttpConfig,
    headers: Vec<HttpHeader>,
    server: &str,
    was: Option<&HttpConfig>,
    mut taken: Vec<String>,
) -> Result<Vec<(String, String)>, ApiError> {
    // Validated before any secret is stored for the URL.
    if let Some(problem) = ports::server_config::server_url_problem(&http.url) {
        return Err(invalid_input_error(problem));
    }
    let origin = http.origin().unwrap_or_default();
    let mut secrets_to_store = Vec::new();
    // Secrets that other headers of this server reference, in the old or the new configuration, are in use too.
    let plain = headers.iter().filter(|h| !h.secret).filter_map(|h| h.value.as_deref());
    taken.extend(plain.flat_map(secrets::referenced_secret_names).map(str::to_owned));
    for header in headers {
        let value = match header.value {
            Some(value) => {
                check_http_header(&header.name, &value)?;
                if header.secret {
                    let name =
                        secret_name_of_header_or_variable(server, &header.name, was.map(|was| &was.headers), &taken);
                    taken.push(name.clone());
                    secrets_to_store.push((secrets::secret_storage_key(&name, &origin), value));
                    secrets::secret_reference(&name)
                } else {
                    value
                }
            }
            None => current_header_value_for_origin(&header.name, was, &origin)?,
        };
        if http.headers.insert(header.name.clone(), value).is_some() {
            return Err(invalid_input_error(format!("the header {:?} is set twice", header.name)));
        }
    }
    Ok(secrets_to_store)
}

/// Returns the name under which the secret of a header or variable is stored: the existing name, or a new one that is
/// not in `taken`.
fn secret_name_of_header_or_variable(
    server: &str,
    header: &str,
    was: Option<&BTreeMap<String, String>>,
    taken: &[String],
) -> String {
    let (own, others): (Vec<_>, Vec<_>) =
        was.into_iter().flatten().partition(|(name, _)| name.eq_ignore_ascii_case(header));
    let mut taken = taken.to_vec();
    taken.extend(others.iter().flat_map(|(_, value)| secrets::referenced_secret_names(value)).map(str::to_owned));
    let own: Vec<&str> = own.iter().flat_map(|(_, value)| secrets::referenced_secret_names(value)).collect();
    match own[..] {
        [name] if !secrets::is_secret_name_taken(name, &taken) => name.to_owned(),
        _ => secrets::unused_secret_name(server, header, &taken),
    }
}

/// Returns the stored value of a header. A value that the user entered for one origin is not used for another origin.
fn current_header_value_for_origin(name: &str, was: Option<&HttpConfig>, origin: &str) -> Result<String, ApiError> {
    let value = was.and_then(|was| was.headers.get(name));
    let value = value.ok_or_else(|| invalid_input_error(format!("the header {name:?} has no value")))?;
    if was.and_then(HttpConfig::origin).as_deref() != Some(origin) {
        return Err(invalid_input_error(format!(
            "enter the value of the header {name:?} again: it was entered for another address"
        )));
    }
    Ok(value.clone())
}

const fn to_host_http_kind(kind: HttpKind) -> HostKind {
    match kind {
        HttpKind::Http => HostKind::Http,
        HttpKind::Sse => HostKind::Sse,
    }
}

pub(super) const fn http_kind_view(kind: HostKind) -> HttpKind {
    match kind {
        HostKind::Http => HttpKind::Http,
        HostKind::Sse => HttpKind::Sse,
    }
}

/// Choice between sending and omitting the values of a server's headers and secrets in a response to the page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SecretVisibility {
    /// The values are sent, because the user has just pasted them. The page returns them when it adds the server.
    Shown,
    /// The values are not sent, because they belong to a configured server.
    Hidden,
}

pub(super) fn http_headers_view(http: &HttpConfig, values: SecretVisibility) -> Vec<HttpHeader> {
    let shown = |value: &String| (values == SecretVisibility::Shown).then(|| value.clone());
    let one = |(name, value): (&String, &String)| HttpHeader {
        name: name.clone(),
        value: shown(value),
        secret: values == SecretVisibility::Hidden && !secrets::referenced_secret_names(value).is_empty(),
    };
    http.headers.iter().map(one).collect()
}

/// Converts a server's configuration to the API type, with or without the values of its secrets.
pub(super) fn server_config_view(config: HostConfig, values: SecretVisibility) -> ServerConfig {
    let revision = config.revision.map(|revision| revision.to_string());
    let tools = Some(config.tools).filter(|tools| !tools.admits_all_tools());
    let autostart = (!config.autostart).then_some(false);
    match config.transport {
        ServerTransport::Stdio(stdio) => {
            // Pasted values are not stored in the keychain yet.
            let secret_env = environment::secret_variable_names(&stdio).filter(|_| values == SecretVisibility::Hidden);
            let StdioConfig { command, args, env, cwd, sandbox } = stdio;
            ServerConfig::Stdio {
                command,
                args,
                env,
                secret_env,
                cwd: cwd.map(|cwd| cwd.display().to_string()),
                sandbox: sandbox.map(containment::sandbox_view),
                revision,
                tools,
                autostart,
            }
        }
        ServerTransport::Http(http) => {
            let headers = http_headers_view(&http, values);
            let auth = http.auth.map(|auth| auth::auth_view(auth, values));
            let kind = http.kind.map(http_kind_view);
            ServerConfig::Http { headers, kind, auth, url: http.url, revision, tools, autostart }
        }
    }
}
