//! Resolves the argument of `install` to a server of a registry or to a bundle.

use std::path::{Path, PathBuf};

use api::ErrorCode;
use host::Host;
use installer::{
    BUNDLE_EXTENSIONS, BundleFile, InstallOrigin, InstallSource, InstallTarget, Installer, NotInstallable,
};
use installs::InstallPlan;
use ports::time::{Clock as _, SystemClock};
use registry::{CachePolicy, RegistryEntry};
use serde_json::{Value, json};

use crate::arguments::InstallArguments;
use crate::bundle;
use crate::failure::CommandFailure;
use crate::registry::{cache_age_text, server_details_json, server_details_text, split_name_and_version};
use crate::terminal_escape::escape_line;

/// Server to install, with its source and its installation plan.
pub(crate) struct ResolvedInstall {
    /// Registry entry or bundle with its exact version or hash, so that the same server is found again.
    pub(crate) source: InstallSource,
    /// Installation plan for the server.
    pub(crate) plan: InstallPlan,
    /// Folder to which the bundle would be unpacked, or `None` if the server is not from a bundle.
    pub(crate) bundle: Option<PathBuf>,
    /// Description of the registry entry or bundle, as text for the user.
    pub(crate) description: String,
    /// Description of the registry entry or bundle, as JSON for the output of `--json`.
    pub(crate) origin: Value,
}

/// Looks up the server to install that the command line names, and creates its installation plan.
pub(crate) async fn resolve_install(
    what: &InstallArguments,
    installer: &Installer,
    host: &Host,
) -> Result<ResolvedInstall, CommandFailure> {
    let requested_at = SystemClock.now();
    let source = install_source_from_arguments(what)?;
    let offer = match (&what.upgrade, &source) {
        (Some(server), source) => installer.offer_upgrade(host, server, source.as_ref()).await?.offer,
        (None, Some(source)) => installer.offer(source, CachePolicy::Now).await?,
        (None, None) => return Err(CommandFailure::usage_error("name a server or a bundle to install")),
    };
    let bundle = offer.origin.bundle().map(|file| file.folder.clone());
    let (mut description, origin) = match &offer.origin {
        InstallOrigin::Registry { answer, .. } => {
            let catalog = &*installer.catalog().await?;
            let mut origin = server_details_json(catalog, &answer.value);
            origin["registry"] = catalog.address().as_str().into();
            origin["bundle"] = offer.origin.bundle().map(bundle_json).into();
            (
                server_details_text(catalog, &answer.value) + &cache_age_text(catalog, answer, requested_at),
                json!({ "registry": origin }),
            )
        }
        InstallOrigin::Bundle(file) => (String::new(), json!({ "bundle": bundle_json(file) })),
    };
    if let Some(file) = offer.origin.bundle() {
        let folder = escape_line(&file.folder.display().to_string());
        description.push_str(&format!("{}folder      {folder}\n", bundle::manifest_text(&file.bundle)));
    }
    let plan = match (offer.plan, &offer.origin) {
        (Ok(plan), _) => plan,
        (Err(problem), InstallOrigin::Registry { answer, .. }) => {
            return Err(not_installable_failure(&problem, &answer.value, &description));
        }
        (Err(problem), InstallOrigin::Bundle(_)) => {
            return Err(CommandFailure::new(ErrorCode::Unsupported, problem.to_string()));
        }
    };
    Ok(ResolvedInstall { source: offer.source, plan, bundle, description, origin })
}

fn bundle_json(file: &BundleFile) -> Value {
    let (manifest, archive) = (&file.bundle.manifest, &file.bundle.archive);
    json!({ "name": manifest.name, "version": manifest.version, "sha256": archive.sha256(), "folder": file.folder })
}

/// Returns the registry entry or bundle that the command line names, or `None` if it names none.
fn install_source_from_arguments(what: &InstallArguments) -> Result<Option<InstallSource>, CommandFailure> {
    let target = match (what.package, what.remote) {
        (Some(number), _) => Some(InstallTarget::Package { number }),
        (_, Some(number)) => Some(InstallTarget::Remote { number }),
        (None, None) => None,
    };
    let Some(named) = &what.what else {
        let is_described = target.is_some() || what.sha256.is_some();
        let message = "--package, --remote and --sha256 need the name of a server or bundle";
        return if is_described { Err(CommandFailure::usage_error(message)) } else { Ok(None) };
    };
    if is_bundle_path(named) {
        if target.is_some() || what.address.is_some() {
            let message = "--remote, --package and --registry are for servers of a registry, not for a bundle";
            return Err(CommandFailure::usage_error(message));
        }
        return Ok(Some(InstallSource::Bundle { path: named.into(), sha256: what.sha256.clone() }));
    }
    if what.sha256.is_some() {
        return Err(CommandFailure::usage_error("--sha256 is for a bundle"));
    }
    let (name, version) = split_name_and_version(named);
    Ok(Some(InstallSource::Registry { name: name.to_owned(), version: Some(version.to_owned()), target }))
}

/// Returns `true` if the argument is the path of a bundle. A name in a registry has the form `namespace/name` and does
/// not end with the extension of a bundle.
fn is_bundle_path(what: &str) -> bool {
    let ending = Path::new(what).extension();
    ending.is_some_and(|ending| BUNDLE_EXTENSIONS.iter().any(|known| ending.eq_ignore_ascii_case(known)))
}

/// Returns the failure that tells why a registry entry can't be installed, and which options may help.
fn not_installable_failure(problem: &NotInstallable, entry: &RegistryEntry, about: &str) -> CommandFailure {
    match problem {
        NotInstallable::NotChosen | NotInstallable::Nothing => {
            CommandFailure::usage_error(install_target_options_text(entry))
        }
        NotInstallable::NoTarget => {
            CommandFailure::usage_error(format!("there is no such number. {}", install_target_options_text(entry)))
        }
        NotInstallable::Deleted => {
            CommandFailure::new(ErrorCode::Refused, format!("it is not installed, because it was deleted:\n{about}"))
        }
        NotInstallable::Download(_) | NotInstallable::Registry(_) | NotInstallable::Bundle(_) => {
            CommandFailure::new(ErrorCode::Unsupported, problem.to_string())
        }
    }
}

fn install_target_options_text(entry: &RegistryEntry) -> String {
    let choice = |choice: &installer::InstallChoice| match choice.target {
        InstallTarget::Package { number } => {
            format!("--package {number} ({} {})", escape_line(&choice.kind), escape_line(&choice.identifier))
        }
        InstallTarget::Remote { number } => format!("--remote={number} ({})", escape_line(&choice.identifier)),
    };
    let choices: Vec<String> = installer::install_choices(entry).iter().map(choice).collect();
    if choices.is_empty() {
        return NotInstallable::Nothing.to_string();
    }
    format!("choose one: {}", choices.join(", "))
}
