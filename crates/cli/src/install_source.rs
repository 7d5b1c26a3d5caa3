//! What `install` is asked for: a server of a registry or a bundle, and what is offered of it.

use std::path::{Path, PathBuf};

use api::ErrorCode;
use installer::{BUNDLE_EXTENSIONS, InstallOrigin, InstallSource, InstallTarget, Installer, NotInstallable};
use installs::InstallPlan;
use ports::time::{Clock as _, SystemClock};
use registry::{Freshness, RegistryEntry};
use serde_json::{Value, json};

use crate::arguments::Install;
use crate::bundle;
use crate::failure::Failure;
use crate::registry::{about, about_in_json, age, name_and_version};
use crate::visible::line;

/// What is installed.
pub(crate) struct Source {
    /// By which it is found again, exactly.
    pub(crate) source: InstallSource,
    /// The plan for it.
    pub(crate) plan: InstallPlan,
    /// The folder that a bundle would have.
    pub(crate) bundle: Option<PathBuf>,
    /// Where it comes from, for people.
    pub(crate) words: String,
    /// Where it comes from, for programs.
    pub(crate) origin: Value,
}

/// Finds what is asked for.
pub(crate) async fn find(what: &Install, installer: &Installer) -> Result<Source, Failure> {
    if is_path(&what.what) { of_bundle(what, installer).await } else { of_registry(what, installer).await }
}

/// A name of a registry has its one slash between namespace and name, and never such an end.
fn is_path(what: &str) -> bool {
    let ending = Path::new(what).extension();
    ending.is_some_and(|ending| BUNDLE_EXTENSIONS.iter().any(|known| ending.eq_ignore_ascii_case(known)))
}

async fn of_bundle(what: &Install, installer: &Installer) -> Result<Source, Failure> {
    if what.remote.is_some() || what.package.is_some() || what.address.is_some() {
        return Err(Failure::usage(
            "--remote, --package and --registry are for servers of a registry, not for a bundle",
        ));
    }
    let source = InstallSource::Bundle { path: (&what.what).into(), sha256: what.sha256.clone() };
    let offer = installer.offer(&source, Freshness::Now).await?;
    let plan = offer.plan.map_err(|problem| Failure::new(ErrorCode::Unsupported, problem.to_string()))?;
    let InstallOrigin::Bundle(file) = offer.origin else {
        return Err(Failure::new(ErrorCode::Internal, "a bundle is no server of a registry"));
    };
    let (bundle, folder) = (file.bundle, file.folder);
    let words = format!("{}folder      {}\n", bundle::about(&bundle), line(&folder.display().to_string()));
    let origin = json!({ "bundle": { "name": bundle.manifest.name, "version": bundle.manifest.version, "sha256": bundle.archive.sha256(), "folder": folder } });
    Ok(Source { source: offer.source, plan, bundle: Some(folder), words, origin })
}

async fn of_registry(what: &Install, installer: &Installer) -> Result<Source, Failure> {
    if what.sha256.is_some() {
        return Err(Failure::usage("--sha256 is for a bundle"));
    }
    let catalog = installer.catalog().await?;
    let asked = SystemClock.now();
    let (name, version) = name_and_version(&what.what);
    let target = match (what.package, what.remote) {
        (Some(number), _) => Some(InstallTarget::Package { number }),
        (_, Some(number)) => Some(InstallTarget::Remote { number }),
        (None, None) => None,
    };
    let source = InstallSource::Registry { name: name.to_owned(), version: Some(version.to_owned()), target };
    let offer = installer.offer(&source, Freshness::Now).await?;
    let InstallOrigin::Registry(answer) = offer.origin else {
        return Err(Failure::new(ErrorCode::Internal, "a server of a registry is no bundle"));
    };
    let about = about(catalog, &answer.value);
    let plan = match offer.plan {
        Ok(plan) => plan,
        Err(problem) => return Err(not_installable(&problem, &answer.value, &about)),
    };
    let words = about + &age(catalog, &answer, asked);
    let mut origin = about_in_json(catalog, &answer.value);
    origin["registry"] = catalog.address().as_str().into();
    Ok(Source { source: offer.source, plan, bundle: None, words, origin: json!({ "registry": origin }) })
}

/// The reason in the words of the command line.
fn not_installable(problem: &NotInstallable, entry: &RegistryEntry, about: &str) -> Failure {
    match problem {
        NotInstallable::NotChosen | NotInstallable::Nothing => Failure::usage(choices(entry)),
        NotInstallable::NoTarget => Failure::usage(format!("there is none of this number. {}", choices(entry))),
        NotInstallable::Deleted => {
            Failure::new(ErrorCode::Refused, format!("it is not installed, as it was deleted:\n{about}"))
        }
        NotInstallable::Download(bundle) => Failure::new(
            ErrorCode::Unsupported,
            format!(
                "it is a bundle, which is not downloaded for you. Download {}\nand install it with \"drawbridge-cli install FILE --sha256 {}\"",
                line(&bundle.url),
                bundle.sha256
            ),
        ),
        NotInstallable::Registry(_) | NotInstallable::Bundle(_) => {
            Failure::new(ErrorCode::Unsupported, problem.to_string())
        }
    }
}

fn choices(entry: &RegistryEntry) -> String {
    let choice = |choice: &installer::InstallChoice| match choice.target {
        InstallTarget::Package { number } => {
            format!("--package {number} ({} {})", line(&choice.kind), line(&choice.identifier))
        }
        InstallTarget::Remote { number } => format!("--remote={number} ({})", line(&choice.identifier)),
    };
    let choices: Vec<String> = installer::choices(entry).iter().map(choice).collect();
    if choices.is_empty() {
        return NotInstallable::Nothing.to_string();
    }
    format!("choose one: {}", choices.join(", "))
}
