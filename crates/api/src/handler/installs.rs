//! Commands that install servers from a registry or a bundle. Each command reads the source again, and the hash of the
//! preview ensures that the shown configuration is installed.

use std::collections::BTreeMap;

use ::installer::{
    InstallError, InstallOffer as Offer, InstallOrigin as Origin, Installer, NewRegistryHeader, NotInstallable,
    install_choices,
};
use ::installs::{FillError, InstallPlan as Plan, PlannedTransport, Template, TemplatePart};
use ports::server_config::{NewServer, ServerTransport, ValuePart};
use ports::time::{Clock as _, SystemClock};
use registry::{
    CachePolicy, DatedResponse, LATEST_VERSION, ListingStatus, Publisher, RegistryCatalog, RegistryEntry, SearchQuery,
};

use super::{Api, containment, errors, server_setup};
use crate::data::*;
use crate::{ApiError, ErrorCode};

impl Api {
    /// Enables the commands that install servers, which otherwise fail.
    #[must_use]
    pub fn with_installer(self, installer: Installer) -> Self {
        Self { installer: Some(installer), ..self }
    }
}

pub(super) fn require_installer(api: &Api) -> Result<&Installer, ApiError> {
    api.installer.as_ref().ok_or_else(|| errors::not_found_error("a registry"))
}

pub(super) const fn registry_cache_policy(refresh: bool) -> CachePolicy {
    if refresh { CachePolicy::Now } else { CachePolicy::Usual }
}

pub(super) async fn search_registry(api: &Api, r: RegistrySearch) -> Result<RegistryPage, ApiError> {
    let catalog = &*require_installer(api)?.catalog().await?;
    let requested_at = SystemClock.now();
    let search = SearchQuery { text: r.text, cursor: r.cursor, limit: None };
    let answer = catalog.search(&search, registry_cache_policy(r.refresh)).await.map_err(InstallError::from)?;
    Ok(RegistryPage {
        servers: answer.value.entries.iter().map(|entry| registry_listing_view(catalog, entry)).collect(),
        unreadable: saturate_to_u32(answer.value.unreadable.len()),
        next_cursor: answer.value.next_cursor.clone(),
        answer: registry_answer_view(catalog, &answer, requested_at),
    })
}

pub(super) async fn read_registry_server(api: &Api, r: RegistryServerName) -> Result<RegistryServer, ApiError> {
    let catalog = &*require_installer(api)?.catalog().await?;
    let requested_at = SystemClock.now();
    let version = r.version.as_deref().unwrap_or(LATEST_VERSION);
    let answer =
        catalog.version(&r.name, version, registry_cache_policy(r.refresh)).await.map_err(InstallError::from)?;
    let (versions, versions_problem) = match catalog.versions(&r.name, registry_cache_policy(r.refresh)).await {
        Ok(page) => (page.value.entries.iter().map(registry_version_view).collect(), None),
        Err(error) => (Vec::new(), Some(error.to_string())),
    };
    Ok(RegistryServer {
        listing: registry_listing_view(catalog, &answer.value),
        choices: install_choices(&answer.value),
        versions,
        versions_problem,
        answer: registry_answer_view(catalog, &answer, requested_at),
    })
}

pub(super) async fn read_registry_setting(api: &Api) -> Result<RegistryReport, ApiError> {
    let in_use = require_installer(api)?.read_active_registry().await?;
    Ok(RegistryReport {
        official: in_use.address.is_official(),
        address: in_use.address.as_str().to_owned(),
        header: in_use.header,
        named: in_use.is_named,
    })
}

pub(super) async fn set_registry(api: &Api, r: SetRegistry) -> Result<SecretStorageReport, ApiError> {
    let header = r.header.map(|header| NewRegistryHeader { name: header.name, value: header.value.map(Into::into) });
    Ok(server_setup::secret_storage_report(require_installer(api)?.set_registry(r.address, header).await?))
}

pub(super) async fn plan_install(api: &Api, source: InstallSource) -> Result<InstallOffer, ApiError> {
    let installer = require_installer(api)?;
    let requested_at = SystemClock.now();
    let offer = installer.offer(&require_absolute_bundle_path(source)?, CachePolicy::Now).await?;
    let name = match &offer.plan {
        Ok(plan) => api.host.find_free_name(&plan.name).await?,
        Err(_) => String::new(),
    };
    install_offer_view(installer, offer, name, requested_at).await
}

pub(super) async fn plan_upgrade(api: &Api, r: UpgradeSource) -> Result<UpgradeOffer, ApiError> {
    let installer = require_installer(api)?;
    let requested_at = SystemClock.now();
    let source = r.source.map(require_absolute_bundle_path).transpose()?;
    let upgrade = installer.offer_upgrade(&api.host, &r.server, source.as_ref()).await?;
    let offer = install_offer_view(installer, upgrade.offer, r.server, requested_at).await?;
    Ok(UpgradeOffer {
        offer,
        installed: upgrade.installed,
        current_values: upgrade.current_values,
        running: upgrade.is_running,
    })
}

async fn install_offer_view(
    installer: &Installer,
    offer: Offer,
    name: String,
    requested_at: u64,
) -> Result<InstallOffer, ApiError> {
    let (plan, problem) = match &offer.plan {
        Ok(plan) => {
            let containment = installer.containment(plan).await;
            let sandbox = (containment == InstallContainment::Possible).then(|| offer.proposed_sandbox(plan));
            (Some(install_plan_view(plan, name, containment, sandbox.map(containment::sandbox_view))), None)
        }
        Err(NotInstallable::NotChosen) => (None, None),
        Err(problem) => (None, Some(problem.to_string())),
    };
    let (origin, choices) = match offer.origin {
        Origin::Registry { answer, bundle } => {
            let catalog = &*installer.catalog().await?;
            let origin = InstallOrigin::Registry {
                listing: registry_listing_view(catalog, &answer.value),
                answer: registry_answer_view(catalog, &answer, requested_at),
                bundle: bundle.as_deref().map(offered_bundle_view),
            };
            (origin, install_choices(&answer.value))
        }
        Origin::Bundle(file) => (InstallOrigin::Bundle(offered_bundle_view(&file)), Vec::new()),
    };
    Ok(InstallOffer { source: offer.source, origin, choices, plan, problem })
}

pub(super) async fn preview_install(api: &Api, draft: InstallDraft) -> Result<InstallPreview, ApiError> {
    let installer = require_installer(api)?;
    let nothing =
        InstallPreview { input_problems: BTreeMap::new(), problem: None, server: None, before: None, hash: None };
    let preview = match installer.preview(&api.host, &parse_install_draft(draft)?, CachePolicy::Usual).await {
        Ok(preview) => preview,
        Err(InstallError::Fill(FillError::Inputs(input_problems))) => {
            return Ok(InstallPreview { input_problems, ..nothing });
        }
        Err(error @ (InstallError::Fill(_) | InstallError::Sandbox(_) | InstallError::Setup(_))) => {
            return Ok(InstallPreview { problem: Some(error.to_string()), ..nothing });
        }
        Err(error) => return Err(error.into()),
    };
    let hidden = preview.before.as_ref().map(headers_by_name).unwrap_or_default();
    let server = server_preview_view(installer, preview.server, &hidden).await;
    let before = match preview.before {
        Some(before) => Some(server_preview_view(installer, before, &hidden).await),
        None => None,
    };
    Ok(InstallPreview { server: Some(server), before, hash: Some(preview.hash.as_str().to_owned()), ..nothing })
}

/// Returns the headers of a server, by name. The preview of an upgrade hides values that are equal to these.
fn headers_by_name(server: &NewServer) -> BTreeMap<String, String> {
    server.entry.config.as_http().map(|http| http.headers.clone()).unwrap_or_default()
}

pub(super) async fn install_server(api: &Api, r: InstallServer) -> Result<SecretStorageReport, ApiError> {
    let (installer, draft) = (require_installer(api)?, parse_install_draft(r.draft)?);
    let persistence = match draft.upgrades {
        Some(_) => installer.upgrade(&api.host, &draft, &r.hash, r.stop_running).await?,
        None => installer.install(&api.host, &draft, &r.hash).await?,
    };
    Ok(server_setup::secret_storage_report(persistence))
}

fn parse_install_draft(draft: InstallDraft) -> Result<::installer::InstallDraft, ApiError> {
    let InstallDraft { source, name, values, sandbox, upgrades } = draft;
    let sandbox = sandbox.map(containment::to_sandbox_config).transpose()?;
    Ok(::installer::InstallDraft { source: require_absolute_bundle_path(source)?, name, values, sandbox, upgrades })
}

/// Returns an error if the path of a bundle is relative, because Drawbridge's working directory is arbitrary.
fn require_absolute_bundle_path(source: InstallSource) -> Result<InstallSource, ApiError> {
    match &source {
        InstallSource::Bundle { path, .. } if !path.is_absolute() => {
            Err(ApiError::new(ErrorCode::BadRequest, format!("{} is not an absolute path", path.display())))
        }
        _ => Ok(source),
    }
}

fn registry_answer_view<T>(catalog: &RegistryCatalog, answer: &DatedResponse<T>, requested_at: u64) -> RegistryAnswer {
    RegistryAnswer {
        registry: catalog.address().as_str().to_owned(),
        fetched_at: answer.fetched,
        from_cache: answer.fetched < requested_at,
        offline_reason: answer.offline.as_ref().map(ToString::to_string),
    }
}

fn registry_listing_view(catalog: &RegistryCatalog, entry: &RegistryEntry) -> RegistryListing {
    let server = &entry.server;
    let listing = entry.listing.clone().unwrap_or_default();
    RegistryListing {
        publisher: publisher_view(catalog, &server.name),
        name: server.name.clone(),
        title: server.title.clone(),
        description: server.description.clone(),
        version: server.version.clone(),
        status: registry_status_view(listing.status),
        status_message: listing.status_message,
        published_at: listing.published_at,
        is_latest: listing.is_latest,
        website_url: server.website_url.clone(),
        repository_url: server.repository.as_ref().and_then(|repository| repository.url.clone()),
    }
}

fn publisher_view(catalog: &RegistryCatalog, server: &str) -> RegistryPublisher {
    let (kind, name) = match Publisher::from_name(server) {
        Publisher::GithubAccount(name) => (PublisherKind::GithubAccount, name),
        Publisher::Domain(name) => (PublisherKind::Domain, name),
    };
    RegistryPublisher { kind, name, checked: catalog.address().is_official() }
}

fn registry_version_view(entry: &RegistryEntry) -> RegistryVersion {
    let listing = entry.listing.clone().unwrap_or_default();
    RegistryVersion {
        version: entry.server.version.clone(),
        status: registry_status_view(listing.status),
        status_message: listing.status_message,
        published_at: listing.published_at,
    }
}

pub(super) const fn registry_status_view(status: ListingStatus) -> RegistryStatus {
    match status {
        ListingStatus::Active => RegistryStatus::Active,
        ListingStatus::Deprecated => RegistryStatus::Deprecated,
        ListingStatus::Deleted => RegistryStatus::Deleted,
        ListingStatus::Unknown => RegistryStatus::Unknown,
    }
}

fn offered_bundle_view(file: &::installer::BundleFile) -> OfferedBundle {
    let (archive, manifest) = (&file.bundle.archive, &file.bundle.manifest);
    let name = file.path.file_name().unwrap_or(file.path.as_os_str()).to_string_lossy();
    let shown = |text: &str| foreign::escape_invisible(text).into_owned();
    OfferedBundle {
        file: shown(&name),
        sha256: archive.sha256().to_owned(),
        bytes: archive.size(),
        name: shown(&manifest.name),
        title: manifest.display_name.as_deref().map(shown),
        version: shown(&manifest.version),
        description: shown(&manifest.description),
        author: shown(&manifest.author.name),
        signature: archive.signature().clone(),
        folder: file.folder.display().to_string(),
        files: saturate_to_u32(archive.files().count()),
        unpacked_bytes: archive.files().map(|file| file.size).sum(),
        warnings: file.bundle.warnings.clone(),
    }
}

fn install_plan_view(
    plan: &Plan,
    name: String,
    containment: InstallContainment,
    sandbox: Option<Sandbox>,
) -> InstallPlan {
    let target = match &plan.target {
        PlannedTransport::Command { command, args, env } => PlannedTarget::Stdio {
            command: command.clone(),
            args: args.iter().flat_map(|arg| &arg.words).map(planned_value_parts_view).collect(),
            env: env.iter().map(|(name, value)| (name.clone(), planned_value_parts_view(value))).collect(),
        },
        PlannedTransport::Remote { url, kind, headers } => PlannedTarget::Http {
            url: planned_value_parts_view(url),
            kind: server_setup::http_kind_view(*kind),
            headers: headers.iter().map(|(name, value)| (name.clone(), planned_value_parts_view(value))).collect(),
        },
    };
    InstallPlan {
        name,
        target,
        inputs: plan.inputs.clone(),
        exposed_secrets: plan.secret_inputs_outside_keychain().into_iter().map(str::to_owned).collect(),
        notes: plan.notes.clone(),
        containment,
        sandbox,
    }
}

pub(super) fn planned_value_parts_view(template: &Template) -> Vec<PlannedPart> {
    let part = |part: &TemplatePart| match part {
        TemplatePart::Text(text) => Some(PlannedPart::Text(text.clone())),
        TemplatePart::Input(key) => Some(PlannedPart::Input(key.clone())),
        TemplatePart::Needs(_) => None,
    };
    template.parts.iter().filter_map(part).collect()
}

/// Converts the configuration of a server for a preview. A header value that equals the one in `hidden` is not shown.
async fn server_preview_view(
    installer: &Installer,
    server: NewServer,
    hidden: &BTreeMap<String, String>,
) -> PreviewedServer {
    let values = |plain: BTreeMap<String, String>| {
        let plain = plain.into_iter().map(|(name, value)| {
            let is_hidden = hidden.get(&name) == Some(&value);
            let part = if is_hidden { PreviewedPart::Kept } else { PreviewedPart::Text(value) };
            (name, vec![part])
        });
        let secret = server.secret_values.iter().map(|(name, parts)| (name.clone(), previewed_value_parts_view(parts)));
        plain.chain(secret).collect()
    };
    match server.entry.config.transport {
        ServerTransport::Stdio(stdio) => {
            let found_at = installer.find_program_path(&stdio).await.map(|path| path.display().to_string());
            PreviewedServer::Stdio {
                env: values(stdio.env),
                command: stdio.command,
                found_at,
                args: stdio.args,
                sandbox: stdio.sandbox.map(containment::sandbox_view),
            }
        }
        ServerTransport::Http(http) => PreviewedServer::Http {
            headers: values(http.headers),
            url: http.url,
            kind: http.kind.map_or(HttpKind::Http, server_setup::http_kind_view),
        },
    }
}

fn previewed_value_parts_view(parts: &[ValuePart]) -> Vec<PreviewedPart> {
    let part = |part: &ValuePart| match part {
        ValuePart::Text(text) => PreviewedPart::Text(text.clone()),
        ValuePart::Secret(_) => PreviewedPart::Secret,
    };
    parts.iter().map(part).collect()
}

fn saturate_to_u32(count: usize) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}

impl From<InstallError> for ApiError {
    fn from(error: InstallError) -> Self {
        use registry::{DownloadError, RegistryError};
        let code = match &error {
            InstallError::Setup(error) => return error.clone().into(),
            InstallError::Registry(RegistryError::NotFound { .. }) => ErrorCode::NotFound,
            InstallError::Registry(RegistryError::Address { .. } | RegistryError::InvalidInput(_)) => {
                ErrorCode::BadRequest
            }
            InstallError::Registry(RegistryError::TooSlow { .. }) => ErrorCode::Timeout,
            InstallError::Registry(RegistryError::Unusable { .. } | RegistryError::WebPage { .. }) => {
                ErrorCode::BadAnswer
            }
            InstallError::OtherBundle { .. } | InstallError::NotInstallable(NotInstallable::Deleted) => {
                ErrorCode::Refused
            }
            InstallError::Download(DownloadError::WrongHash { .. } | DownloadError::Address { .. })
            | InstallError::OtherServer { .. } => ErrorCode::Refused,
            InstallError::Download(DownloadError::TooSlow { .. }) => ErrorCode::Timeout,
            InstallError::NotInstallable(_) | InstallError::NotInstalled(_) => ErrorCode::Unsupported,
            InstallError::Stale => ErrorCode::Stale,
            InstallError::Bundle { .. }
            | InstallError::Fill(_)
            | InstallError::Sandbox(_)
            | InstallError::NoSource(_)
            | InstallError::SameVersion { .. }
            | InstallError::Running(_) => ErrorCode::Invalid,
            InstallError::NoHeaderValue { .. } | InstallError::OfficialHeader => ErrorCode::Invalid,
            InstallError::RegistryNamed => ErrorCode::Refused,
            InstallError::Registry(RegistryError::Header { .. }) => ErrorCode::BadRequest,
            InstallError::Registry(_)
            | InstallError::Secret(_)
            | InstallError::Download(_)
            | InstallError::Locked(_)
            | InstallError::Store(_)
            | InstallError::DataFolder(_)
            | InstallError::NoHome
            | InstallError::Unpack(_)
            | InstallError::NotRemoved(_) => ErrorCode::System,
        };
        Self::new(code, error.to_string())
    }
}
