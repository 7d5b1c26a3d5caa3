//! Commands that import servers from other apps, and export a server in their formats.
//!
//! Nothing is stored between listing and import: both commands read the files, and selected servers are identified by
//! the hash of their configuration in the list.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use installer::{imports, projects};
use other_apps::{
    AppEnvironment, FoundServer, LinkTarget, MAX_SCANNED_SERVERS, ScanReport, ScanScope, ServerExportFormat,
    ValueSource,
};
use ports::server_config::ServerEntry;

use super::{Api, containment, errors, server_setup};
use crate::data::*;
use crate::{ApiError, ErrorCode};

/// Maximum number of values that one request takes from their sources.
const MAX_TAKEN_VALUES: usize = 50_000;

impl Api {
    /// Enables the import of servers from the settings of other apps in the home folder of `environment`. Without an
    /// environment, the command `find_import_candidates` fails.
    #[must_use]
    pub fn with_app_import_from(self, environment: AppEnvironment) -> Self {
        Self { environment: Some(environment.into()), ..self }
    }

    /// Enables imports to take values from environment variables, which `read_variable` reads. It is called for the
    /// variables of values that the user chose, at the time of the import. Without it, no variable is set.
    #[must_use]
    pub fn with_environment_variables(self, read_variable: fn(&str) -> Option<String>) -> Self {
        Self { read_variable, ..self }
    }
}

pub(super) async fn list_import_candidates(api: &Api, source: ImportSource) -> Result<ImportCandidates, ApiError> {
    let only = source.app.as_deref().and_then(other_apps::apps::find_source_app).map(|app| app.id);
    let report = scan_import_source(api, source).await?;
    let is_importable = |server: &&FoundServer| matches!(server.status, ImportStatus::New | ImportStatus::Conflict);
    let needs_workspace = report.servers.iter().filter(is_importable).any(|server| server.needs_workspace);
    let mut found = ImportCandidates { problems: report.problems, needs_workspace, ..ImportCandidates::default() };
    for app in other_apps::apps::APPS {
        if only.is_none_or(|id| id == app.id) {
            found.searched_apps.push(app.name.to_owned());
        }
        let files = report.files.iter().filter(|file| file.app == app.id);
        let files: Vec<ImportFile> = files
            .map(|file| ImportFile {
                path: file.file.clone(),
                servers: u32::try_from(file.servers).unwrap_or(u32::MAX),
            })
            .collect();
        let is_here = |server: &&FoundServer| server.origins.first().is_some_and(|origin| origin.app == app.id);
        let servers: Vec<ImportCandidate> = report.servers.iter().filter(is_here).map(import_candidate_view).collect();
        if files.iter().any(|file| file.servers > 0) {
            found.apps.push(ImportApp { id: app.id.to_owned(), name: app.name.to_owned(), files, servers });
        }
    }
    Ok(found)
}

pub(super) async fn import_servers(api: &Api, picked: ImportServers) -> Result<ImportedServers, ApiError> {
    if picked.ids.len() > MAX_SCANNED_SERVERS || picked.taken.len() > MAX_TAKEN_VALUES {
        return Err(ApiError::new(
            ErrorCode::Invalid,
            format!("at most {MAX_SCANNED_SERVERS} servers and {MAX_TAKEN_VALUES} values can be imported at once"),
        ));
    }
    let mut taken_names: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for TakenValue { id, name } in picked.taken {
        taken_names.entry(id).or_default().push(name);
    }
    let report = scan_import_source(api, picked.source).await?;
    let by_id: BTreeMap<String, &FoundServer> =
        report.servers.iter().map(|server| (server.fingerprint(), server)).collect();
    let mut outcomes = Vec::new();
    for id in picked.ids {
        let nothing = ImportOutcome { id: id.clone(), ..ImportOutcome::default() };
        outcomes.push(match by_id.get(&id) {
            None => {
                let problem = "it changed since it was listed: review it again".to_owned();
                ImportOutcome { problem: Some(problem), ..nothing }
            }
            Some(server) => {
                let mut server = FoundServer::clone(server);
                let names = taken_names.remove(&id).unwrap_or_default();
                let taken = server.take_values(&names, &api.read_variable);
                match imports::import_server(&api.host, &server).await {
                    Ok(persistence) => ImportOutcome {
                        name: Some(server.name),
                        only_this_run: server_setup::secret_storage_report(persistence).only_this_run,
                        taken: taken.names,
                        unset: taken.unset,
                        ..nothing
                    },
                    Err(error) => ImportOutcome { problem: Some(error.to_string()), ..nothing },
                }
            }
        });
    }
    Ok(ImportedServers { outcomes })
}

async fn scan_import_source(api: &Api, source: ImportSource) -> Result<ScanReport, ApiError> {
    let Some(environment) = api.environment.clone() else { return Err(errors::not_found_error("a home folder")) };
    let environment = match source.workspace.map(PathBuf::from) {
        None => environment,
        Some(folder) if folder.is_absolute() => {
            Arc::new(AppEnvironment { workspace: Some(folder), ..AppEnvironment::clone(&environment) })
        }
        Some(folder) => {
            let message = format!("{} is not an absolute path", folder.display());
            return Err(ApiError::new(ErrorCode::BadRequest, message));
        }
    };
    match (source.app, source.project) {
        (Some(_), Some(_)) => {
            Err(ApiError::new(ErrorCode::BadRequest, "the request must not specify both an app and a project"))
        }
        (None, Some(project)) => Ok(imports::find_project_servers(&api.host, project.into(), environment).await?),
        (Some(app), None) => {
            Ok(imports::find_servers_of_other_apps(&api.host, ScanScope::App(app), environment).await?)
        }
        (None, None) => Ok(imports::find_servers_of_other_apps(&api.host, ScanScope::All, environment).await?),
    }
}

/// Lists the files in a project folder that may define servers, so that the page can ask the user before it reads them.
pub(super) async fn list_project_settings_files(api: &Api, project: ProjectFolder) -> Result<ProjectFiles, ApiError> {
    let files = imports::list_project_files(&api.host, project.folder.into()).await?;
    Ok(ProjectFiles { files: files.into_iter().map(str::to_owned).collect() })
}

/// Lists the folders that are shared with servers (roots) and whose settings files define servers that the user has not
/// seen. The list is empty if the API has no home folder.
pub(super) async fn list_unseen_projects(api: &Api) -> Result<UnseenProjects, ApiError> {
    let Some(environment) = api.environment.clone() else { return Ok(UnseenProjects::default()) };
    Ok(UnseenProjects { projects: projects::find_projects_with_unseen_servers(&api.host, environment).await? })
}

pub(super) async fn export_server(api: &Api, what: ExportServer) -> Result<ExportedServer, ApiError> {
    let servers = api.host.snapshot().await?.servers;
    let server = servers.into_iter().find(|server| server.name == what.server);
    let server = server.ok_or_else(|| errors::not_found_error("this server"))?;
    let entry = ServerEntry { name: server.name, config: server.config };
    let exported_json = |form| {
        let exported = other_apps::export_server(&entry, form);
        ExportedServer { text: format!("{:#}", exported.document), omissions: exported.omissions }
    };
    Ok(match what.form {
        ServerExportForm::McpServers => exported_json(ServerExportFormat::McpServers),
        ServerExportForm::VsCode => exported_json(ServerExportFormat::VsCode),
        form @ (ServerExportForm::Link | ServerExportForm::LinkMarkdown) => {
            let link = other_apps::install_link(&entry, LinkTarget::Drawbridge)
                .map_err(|problem| ApiError::new(ErrorCode::Invalid, problem.message))?;
            let text = if form == ServerExportForm::Link { link.link.clone() } else { link.markdown() };
            ExportedServer { text, omissions: link.omissions }
        }
    })
}

fn import_sign_in_view(server: &FoundServer) -> Option<ImportSignIn> {
    let auth = server.config.as_http().and_then(|http| http.auth.clone());
    if auth.is_none() && server.client_secret.is_none() {
        return None;
    }
    let auth = auth.unwrap_or_default();
    Some(ImportSignIn {
        client_id: auth.client_id,
        has_secret: server.client_secret.is_some(),
        issuer: auth.issuer,
        scopes: auth.scopes,
    })
}

fn value_source_view(source: &ValueSource) -> ImportedValueSource {
    match source {
        ValueSource::Environment(text) => {
            ImportedValueSource::Environment { variables: text.variables().into_iter().map(str::to_owned).collect() }
        }
        ValueSource::File { path, .. } => ImportedValueSource::File { path: path.clone() },
    }
}

fn import_candidate_view(server: &FoundServer) -> ImportCandidate {
    let values = |kinds: &BTreeMap<String, ImportedValueKind>| {
        let one = |(name, kind): (&String, &ImportedValueKind)| ImportedValue {
            name: name.clone(),
            kind: *kind,
            requires_input: server.needs_value(name),
            source: server.sources.get(name).map(value_source_view),
        };
        kinds.iter().map(one).collect()
    };
    let stdio = server.config.as_stdio();
    ImportCandidate {
        id: server.fingerprint(),
        name: server.name.clone(),
        origins: server.origins.clone(),
        transport: server.transport().to_owned(),
        target: server.config.command_line(),
        folder: stdio.and_then(|stdio| stdio.cwd.as_ref()).map(|folder| folder.display().to_string()),
        sandbox: stdio.and_then(|stdio| stdio.sandbox.clone()).map(containment::sandbox_view),
        sign_in: import_sign_in_view(server),
        env: values(&server.env),
        headers: values(&server.headers),
        status: server.status,
        placeholders: server.placeholders.clone(),
        is_disabled: server.off,
        tools: Some(server.config.tools.clone()).filter(|tools| !tools.admits_all_tools()),
        notes: server.notes.clone(),
    }
}
