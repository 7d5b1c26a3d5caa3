//! The `registry` command: searches a registry, and shows its servers.

use std::path::PathBuf;
use std::sync::Arc;

use api::ApiError;
use installer::{InstallError, Installer, RegistryChoice, publisher_verification_text};
use ports::time::{Clock as _, SystemClock};
use ports::{Documents, Secrets};
use registry::{
    CachePolicy, DatedResponse, LATEST_VERSION, ListingMetadata, ListingStatus, PackageInstall, PlanError,
    RegistryCatalog, RegistryEntry, RegistryError, SearchQuery, plan_package, plan_remote,
};
use serde_json::{Value, json};
use store::{CacheFolder, FileLocations, ReadOnlyStore};

use crate::arguments::{Arguments, RegistryArguments, RegistryCommand};
use crate::failure::CommandFailure;
use crate::install_plan_text;
use crate::output::{Output, to_json_value};
use crate::session::{file_locations, storage_failure};
use crate::table::format_time;
use crate::terminal_escape::{self, escape_and_prefix_lines, escape_line};

/// Environment variable with the URL of the registry. The app uses it too.
const REGISTRY_VARIABLE: &str = "DRAWBRIDGE_REGISTRY";

/// Runs a `registry` command, and returns its result as JSON.
pub(crate) async fn run(
    arguments: &Arguments,
    what: &RegistryArguments,
    output: &Output,
) -> Result<Value, CommandFailure> {
    let FileLocations { config_file, data_dir } = file_locations(arguments)?;
    let ReadOnlyStore { documents, secrets, .. } =
        store::open_read_only(&config_file, &data_dir).map_err(storage_failure)?;
    let catalog = create_installer(data_dir, registry_choice_from_option(what.address.clone(), documents, secrets))
        .catalog()
        .await?;
    match &what.command {
        RegistryCommand::Search { text, cursor } => search_registry(&catalog, text, cursor.as_deref(), output).await,
        RegistryCommand::Show { name } => show_registry_server(&catalog, name, output).await,
    }
}

/// Returns the registry to use: the one on the command line, else the one in the environment, else the one in the
/// settings.
pub(crate) fn registry_choice_from_option(
    address: Option<String>,
    documents: Arc<dyn Documents>,
    secrets: Arc<dyn Secrets>,
) -> RegistryChoice {
    let environment = || std::env::var(REGISTRY_VARIABLE).ok().filter(|address| !address.is_empty());
    match address.or_else(environment) {
        Some(address) => RegistryChoice::Named(address),
        None => RegistryChoice::Settings { documents, secrets },
    }
}

/// Creates an installer that uses this registry and stores bundles in the data folder.
pub(crate) fn create_installer(data_folder: PathBuf, registry: RegistryChoice) -> Installer {
    Installer::new(data_folder, registry, |address, header| {
        let no_folder = || InstallError::DataFolder("the home folder is unknown; set HOME".to_owned());
        let folder = store::registry_cache_folder().ok_or_else(no_folder)?;
        installer::open_registry_catalog(address, header, Arc::new(CacheFolder::open(&folder)?))
    })
}

/// Splits the argument `NAME` or `NAME@VERSION`, which names a server in a registry. Without a version, the second part
/// is [`LATEST_VERSION`].
pub(crate) fn split_name_and_version(name: &str) -> (&str, &str) {
    name.split_once('@').unwrap_or((name, LATEST_VERSION))
}

/// Converts the error of an installation or of its plan to a failure.
impl From<InstallError> for CommandFailure {
    fn from(error: InstallError) -> Self {
        match error {
            InstallError::Bundle { .. } | InstallError::Registry(RegistryError::Address { .. }) => {
                Self::usage_error(error.to_string())
            }
            error => ApiError::from(error).into(),
        }
    }
}

async fn search_registry(
    catalog: &RegistryCatalog,
    text: &str,
    cursor: Option<&str>,
    output: &Output,
) -> Result<Value, CommandFailure> {
    let requested_at = SystemClock.now();
    let search = SearchQuery { text: text.to_owned(), cursor: cursor.map(str::to_owned), limit: None };
    let answer = catalog.search(&search, CachePolicy::Usual).await.map_err(InstallError::from)?;
    let page = &answer.value;
    let mut words: String =
        page.entries.iter().map(|entry| format!("{}\n", search_result_text(catalog, entry))).collect();
    if page.entries.is_empty() {
        words.push_str("No server is found.\n\n");
    }
    for unreadable in &page.unreadable {
        let name = unreadable.name.as_deref().map_or_else(|| "An entry".to_owned(), terminal_escape::escape_value);
        words.push_str(&format!("{name} can't be read: {}\n", unreadable.cause));
    }
    if let Some(cursor) = &page.next_cursor {
        words.push_str(&format!("There are more: --cursor {}\n", terminal_escape::escape_value(cursor)));
    }
    words.push_str(&cache_age_text(catalog, &answer, requested_at));
    output.print_text(&words);
    let unreadable = page.unreadable.iter();
    let unreadable: Vec<Value> =
        unreadable.map(|entry| json!({ "name": entry.name, "cause": entry.cause.to_string() })).collect();
    Ok(with_cache_age(
        catalog,
        &answer,
        requested_at,
        json!({
            "servers": page.entries.iter().map(|entry| server_details_json(catalog, entry)).collect::<Vec<_>>(),
            "unreadable": unreadable,
            "nextCursor": page.next_cursor,
        }),
    ))
}

async fn show_registry_server(catalog: &RegistryCatalog, name: &str, output: &Output) -> Result<Value, CommandFailure> {
    let requested_at = SystemClock.now();
    let (name, version) = split_name_and_version(name);
    let answer = catalog.version(name, version, CachePolicy::Usual).await.map_err(InstallError::from)?;
    let server = &answer.value.server;
    let mut words = server_details_text(catalog, &answer.value);
    let (mut packages, mut remotes) = (Vec::new(), Vec::new());
    for (index, package) in server.packages.iter().enumerate() {
        let version = package.version.as_deref().unwrap_or_default();
        let (kind, identifier) =
            (escape_line(&package.registry_type), terminal_escape::escape_value(&package.identifier));
        words.push_str(&format!("\npackage {}   {kind} {identifier} {}\n", index + 1, escape_line(version)));
        let plan = plan_package(server, package);
        words.push_str(&package_install_text(&plan));
        let mut row = json!({ "number": index + 1, "kind": package.registry_type, "identifier": package.identifier, "version": package.version });
        match plan {
            Ok(PackageInstall::Plan(plan)) => row["plan"] = install_plan_text::install_plan_json(&plan),
            Ok(PackageInstall::Bundle(bundle)) => {
                row["download"] = json!({ "url": bundle.url, "sha256": bundle.sha256 });
            }
            Err(problem) => row["problem"] = problem.to_string().into(),
        }
        packages.push(row);
    }
    for (index, remote) in server.remotes.iter().enumerate() {
        words.push_str(&format!("\nremote {}\n", index + 1));
        let mut row = json!({ "number": index + 1, "kind": remote.kind, "url": remote.url });
        match plan_remote(server, remote) {
            Ok(plan) => {
                words.push_str(&install_plan_text::install_plan_text(&plan));
                row["plan"] = install_plan_text::install_plan_json(&plan);
            }
            Err(problem) => {
                words.push_str(&plan_problem_text(&problem));
                row["problem"] = problem.to_string().into();
            }
        }
        remotes.push(row);
    }
    words.push_str(&format!("\n{}", cache_age_text(catalog, &answer, requested_at)));
    output.print_text(&words);
    let mut shown = server_details_json(catalog, &answer.value);
    shown["packages"] = packages.into();
    shown["remotes"] = remotes.into();
    Ok(with_cache_age(catalog, &answer, requested_at, shown))
}

fn package_install_text(plan: &Result<PackageInstall, PlanError>) -> String {
    match plan {
        Ok(PackageInstall::Plan(plan)) => install_plan_text::install_plan_text(plan),
        Ok(PackageInstall::Bundle(bundle)) => {
            format!("address     {}\nsha256      {}\n", escape_line(&bundle.url), bundle.sha256)
        }
        Err(problem) => plan_problem_text(problem),
    }
}

fn plan_problem_text(problem: &PlanError) -> String {
    format!("problem     {}\n", escape_line(&problem.to_string()))
}

/// Formats one server of a search result as text for the user.
fn search_result_text(catalog: &RegistryCatalog, entry: &RegistryEntry) -> String {
    let server = &entry.server;
    let mut text = format!("{} {}{}\n", server.name, escape_line(&server.version), registry_status_text(entry));
    if let Some(title) = &server.title {
        text.push_str(&format!("  {}\n", escape_line(title)));
    }
    text.push_str(&format!("  {}\n", publisher_verification_text(catalog, &entry.server.name)));
    if let Some(description) = &server.description {
        text.push_str(&escape_and_prefix_lines(description, "  "));
    }
    text
}

/// Formats the description of a server in a registry as text.
pub(crate) fn server_details_text(catalog: &RegistryCatalog, entry: &RegistryEntry) -> String {
    let server = &entry.server;
    let mut text = format!("server      {}\nversion     {}\n", escape_line(&server.name), escape_line(&server.version));
    let status = registry_status_text(entry);
    if !status.is_empty() {
        text.push_str(&format!("status     {status}\n"));
    }
    text.push_str(&format!("publisher   {}\n", publisher_verification_text(catalog, &entry.server.name)));
    let published = entry.listing.as_ref().and_then(|listing| listing.published_at);
    text.push_str(&published.map(|at| format!("published   {}\n", format_time(at))).unwrap_or_default());
    let repository = server.repository.as_ref().and_then(|repository| repository.url.as_ref());
    let shown = [
        ("title", server.title.as_ref()),
        ("claim", server.description.as_ref()),
        ("website", server.website_url.as_ref()),
        ("source", repository),
    ];
    for (label, shown) in shown {
        text.push_str(&shown.map(|shown| format!("{label:<11} {}\n", escape_line(shown))).unwrap_or_default());
    }
    text
}

pub(crate) fn server_details_json(catalog: &RegistryCatalog, entry: &RegistryEntry) -> Value {
    let server = &entry.server;
    let ListingMetadata { status, status_message, published_at, is_latest, .. } =
        entry.listing.clone().unwrap_or_default();
    json!({
        "name": server.name,
        "title": server.title,
        "description": server.description,
        "version": server.version,
        "publisher": publisher_verification_text(catalog, &server.name),
        "status": to_json_value(&status),
        "statusMessage": status_message,
        "publishedAt": published_at,
        "isLatest": is_latest,
        "websiteUrl": server.website_url,
        "repository": server.repository.as_ref().and_then(|repository| repository.url.as_ref()),
    })
}

/// Describes the status of a server's version in the registry. Returns an empty text if the status is active.
fn registry_status_text(entry: &RegistryEntry) -> String {
    let Some(listing) = &entry.listing else { return String::new() };
    let word = match listing.status {
        ListingStatus::Active => return String::new(),
        ListingStatus::Deprecated => " DEPRECATED",
        ListingStatus::Deleted => " DELETED from the registry, which often means spam or malware",
        ListingStatus::Unknown => " with an unknown status",
    };
    let message = listing.status_message.as_deref().map(|message| format!(": {}", escape_line(message)));
    format!("{word}{}", message.unwrap_or_default())
}

/// Describes when a registry response was received, and the reason if a newer one could not be requested.
pub(crate) fn cache_age_text<T>(catalog: &RegistryCatalog, answer: &DatedResponse<T>, requested_at: u64) -> String {
    let address = catalog.address();
    let mut text = if answer.fetched >= requested_at {
        format!("{address} answered just now.\n")
    } else {
        let minutes = requested_at.saturating_sub(answer.fetched) / 60_000;
        let age = match minutes {
            0 => "less than a minute".to_owned(),
            1..120 => format!("{minutes} min"),
            120..2_880 => format!("{} h", minutes / 60),
            _ => format!("{} days", minutes / 1_440),
        };
        format!("Cached response of {address}, from {age} ago ({}).\n", format_time(answer.fetched))
    };
    if let Some(error) = &answer.offline {
        text.push_str(&format!("OFFLINE: {error}\n"));
    }
    text
}

fn with_cache_age<T>(
    catalog: &RegistryCatalog,
    answer: &DatedResponse<T>,
    requested_at: u64,
    mut shown: Value,
) -> Value {
    shown["registry"] = catalog.address().as_str().into();
    shown["fetched"] = answer.fetched.into();
    shown["fromCache"] = (answer.fetched < requested_at).into();
    shown["offline"] = answer.offline.as_ref().map(ToString::to_string).into();
    shown
}
