//! What `install` is asked for: a server of a registry or a bundle, and the plan for it.

use std::path::{Path, PathBuf};

use api::ErrorCode;
use bundles::Bundle;
use installs::InstallPlan;
use ports::time::{Clock as _, SystemClock};
use registry::{Freshness, PackageInstall, RegistryEntry, Status, plan_package, plan_remote};
use serde_json::{Value, json};

use crate::arguments::Install;
use crate::bundle;
use crate::failure::Failure;
use crate::registry::{about, about_in_json, age, catalog, entry};
use crate::visible::line;

/// What is installed.
pub(crate) struct Source {
    /// The plan for it.
    pub(crate) plan: InstallPlan,
    /// The bundle to unpack, and the folder that it would have.
    pub(crate) bundle: Option<(Bundle, PathBuf)>,
    /// Where it comes from, for people.
    pub(crate) words: String,
    /// Where it comes from, for programs.
    pub(crate) origin: Value,
}

/// Finds what is asked for. `root` is the folder that bundles are unpacked below.
pub(crate) async fn find(what: &Install, root: &Path) -> Result<Source, Failure> {
    if is_path(&what.what) { of_bundle(what, root).await } else { of_registry(what).await }
}

/// A name of a registry has its one slash between namespace and name, and never such an end.
fn is_path(what: &str) -> bool {
    let ends = |extension: &str| Path::new(what).extension().is_some_and(|found| found.eq_ignore_ascii_case(extension));
    ends("mcpb") || ends("dxt")
}

async fn of_bundle(what: &Install, root: &Path) -> Result<Source, Failure> {
    if what.remote.is_some() || what.package.is_some() || what.address.is_some() {
        return Err(Failure::usage(
            "--remote, --package and --registry are for servers of a registry, not for a bundle",
        ));
    }
    let (bundle, folder) = bundle::open(Path::new(&what.what), root).await?;
    let sha256 = bundle.archive.sha256();
    if let Some(wanted) = what.sha256.as_ref().filter(|wanted| !wanted.eq_ignore_ascii_case(sha256)) {
        let message = format!("the bundle is another one: its SHA-256 is {sha256}, and not {wanted}; do not use it");
        return Err(Failure::new(ErrorCode::Refused, message));
    }
    let plan = bundle::plan(&bundle, folder.clone())?.install;
    let words = format!("{}folder      {}\n", bundle::about(&bundle), line(&folder.display().to_string()));
    let origin = json!({ "bundle": { "name": bundle.manifest.name, "version": bundle.manifest.version, "sha256": sha256, "folder": folder } });
    Ok(Source { plan, bundle: Some((bundle, folder)), words, origin })
}

async fn of_registry(what: &Install) -> Result<Source, Failure> {
    if what.sha256.is_some() {
        return Err(Failure::usage("--sha256 is for a bundle"));
    }
    let catalog = catalog(what.address.as_deref())?;
    let asked = SystemClock.now();
    let answer = entry(&catalog, &what.what, Freshness::Now).await?;
    let about = about(&catalog, &answer.value);
    if answer.value.listing.as_ref().is_some_and(|listing| listing.status == Status::Deleted) {
        return Err(Failure::new(ErrorCode::Refused, format!("it is not installed, as it was deleted:\n{about}")));
    }
    let words = about + &age(&catalog, &answer, asked);
    let mut origin = about_in_json(&catalog, &answer.value);
    origin["registry"] = catalog.address().as_str().into();
    Ok(Source { plan: chosen(what, &answer.value)?, bundle: None, words, origin: json!({ "registry": origin }) })
}

/// The plan of the package or remote that is chosen, or of the only one.
fn chosen(what: &Install, entry: &RegistryEntry) -> Result<InstallPlan, Failure> {
    let server = &entry.server;
    let (package, remote) = match (what.package, what.remote) {
        (None, None) if server.packages.len() + server.remotes.len() == 1 => {
            (server.packages.first(), server.remotes.first())
        }
        (None, None) => return Err(Failure::usage(choices(entry))),
        (Some(number), _) => (nth(&server.packages, number), None),
        (_, Some(number)) => (None, nth(&server.remotes, number)),
    };
    let cant_plan = |error: registry::PlanError| Failure::new(ErrorCode::Unsupported, error.to_string());
    match (package, remote) {
        (Some(package), _) => match plan_package(server, package).map_err(cant_plan)? {
            PackageInstall::Plan(plan) => Ok(plan),
            PackageInstall::Bundle(bundle) => Err(Failure::new(
                ErrorCode::Unsupported,
                format!(
                    "it is a bundle, which is not downloaded for you. Download {}\nand install it with \"drawbridge-cli install FILE --sha256 {}\"",
                    line(&bundle.url),
                    bundle.sha256
                ),
            )),
        },
        (None, Some(remote)) => plan_remote(server, remote).map_err(cant_plan),
        (None, None) => Err(Failure::usage(format!("there is none of this number. {}", choices(entry)))),
    }
}

fn nth<T>(all: &[T], number: usize) -> Option<&T> {
    all.get(number.checked_sub(1)?)
}

fn choices(entry: &RegistryEntry) -> String {
    let server = &entry.server;
    let mut choices: Vec<String> = Vec::new();
    for (index, package) in server.packages.iter().enumerate() {
        choices.push(format!(
            "--package {} ({} {})",
            index + 1,
            line(&package.registry_type),
            line(&package.identifier)
        ));
    }
    for (index, remote) in server.remotes.iter().enumerate() {
        choices.push(format!("--remote={} ({})", index + 1, line(remote.url.as_deref().unwrap_or_default())));
    }
    if choices.is_empty() {
        return "the registry lists no package and no remote of this server".to_owned();
    }
    format!("choose one: {}", choices.join(", "))
}
