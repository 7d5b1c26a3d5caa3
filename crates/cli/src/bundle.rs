//! Bundles: what is in one, and what it would run here.

use std::path::{Path, PathBuf};

use api::ErrorCode;
use bundles::{Bundle, BundleError, BundlePlan, Place, Platform};
use host::BUNDLES;
use serde_json::{Value, json};

use crate::arguments::{Arguments, BundleCommand};
use crate::failure::Failure;
use crate::output::{Output, value};
use crate::plan_text;
use crate::session::locations;
use crate::visible::{self, line};

/// Carries out a command for bundles.
pub(crate) async fn run(arguments: &Arguments, command: &BundleCommand, output: &Output) -> Result<Value, Failure> {
    let BundleCommand::Inspect { file } = command;
    let root = root(&locations(arguments)?.data_dir)?;
    let (bundle, folder) = open(file, &root).await?;
    let plan = plan(&bundle, folder);
    output.text(&words(&bundle, &plan));
    let files: Vec<_> = bundle.archive.files().collect();
    let (runs, problem) = match &plan {
        Ok(plan) => {
            let mut runs = plan_text::in_json(&plan.install);
            runs["program"] = value(&plan.program);
            (runs, Value::Null)
        }
        Err(failure) => (Value::Null, failure.message.as_str().into()),
    };
    Ok(json!({
        "file": file,
        "sha256": bundle.archive.sha256(),
        "size": bundle.archive.size(),
        "signature": bundle.archive.signature(),
        "manifest": bundle.manifest,
        "files": files,
        "plan": runs,
        "planProblem": problem,
        "warnings": bundle.warnings,
    }))
}

/// The folder that bundles are unpacked below, by where it really lies if it is there: a sandbox shows a bundle under that path alone.
pub(crate) fn root(data_folder: &Path) -> Result<PathBuf, Failure> {
    // On Windows that would be a path of a form that many programs can't read.
    let real = if cfg!(unix) { data_folder.canonicalize().ok() } else { None };
    let folder = real.map_or_else(|| std::path::absolute(data_folder), Ok);
    folder.map(|folder| folder.join(BUNDLES)).map_err(|error| Failure::usage(format!("--data-dir: {error}")))
}

/// Opens a bundle. With it comes the folder that it would be unpacked to.
pub(crate) async fn open(file: &Path, root: &Path) -> Result<(Bundle, PathBuf), Failure> {
    let path = file.to_owned();
    let bundle = blocking(move || Bundle::open(&path)).await?;
    let bundle = bundle.map_err(|error| Failure::usage(format!("{}: {error}", file.display())))?;
    let folder = bundle.folder(root);
    Ok((bundle, folder))
}

/// What a bundle in this folder would run.
pub(crate) fn plan(bundle: &Bundle, folder: PathBuf) -> Result<BundlePlan, Failure> {
    let home = std::env::home_dir();
    let home = home.ok_or_else(|| Failure::new(ErrorCode::System, "there is no home folder; set HOME"))?;
    let platform = match std::env::consts::OS {
        "windows" => Platform::Windows,
        "macos" => Platform::MacOs,
        _ => Platform::Linux,
    };
    let place = Place {
        platform,
        folder,
        desktop: home.join("Desktop"),
        documents: home.join("Documents"),
        downloads: home.join("Downloads"),
        home,
        node: None,
        python: None,
    };
    let plan = bundles::plan(bundle, &place);
    plan.map_err(|error| Failure::new(ErrorCode::Unsupported, format!("the bundle can't be run here: {error}")))
}

/// Unpacks a bundle. Returns its folder, and whether it is new.
pub(crate) async fn unpack(bundle: Bundle, root: PathBuf) -> Result<(PathBuf, bool), Failure> {
    let is_new = std::fs::symlink_metadata(bundle.folder(&root)).is_err();
    let installed = blocking(move || bundles::unpack(&bundle, &root)).await?.map_err(failed)?;
    Ok((installed.folder, is_new))
}

/// Removes what [`unpack`] made.
pub(crate) async fn remove(root: PathBuf, folder: PathBuf) -> Result<(), Failure> {
    blocking(move || bundles::remove(&root, &folder)).await?.map_err(failed)
}

fn failed(error: BundleError) -> Failure {
    Failure::new(ErrorCode::System, error.to_string())
}

async fn blocking<T: Send + 'static>(act: impl FnOnce() -> T + Send + 'static) -> Result<T, Failure> {
    tokio::task::spawn_blocking(act).await.map_err(|error| Failure::new(ErrorCode::Internal, error.to_string()))
}

/// What a bundle says of itself, for people.
pub(crate) fn about(bundle: &Bundle) -> String {
    let manifest = &bundle.manifest;
    let author = if manifest.author.name.is_empty() { "nobody" } else { &manifest.author.name };
    let mut text = format!("bundle      {} {}\n", visible::value(&manifest.name), line(&manifest.version));
    if let Some(name) = &manifest.display_name {
        text.push_str(&format!("title       {}\n", line(name)));
    }
    text.push_str(&format!("says of it  {}\n", line(&manifest.description)));
    text.push_str(&format!("author      {} (as the bundle says)\n", line(author)));
    text.push_str(&format!("sha256      {}\n", bundle.archive.sha256()));
    text.push_str(&format!("signature   {}\n", bundle.archive.signature()));
    for warning in &bundle.warnings {
        text.push_str(&format!("warning     {}\n", line(warning)));
    }
    text
}

fn words(bundle: &Bundle, plan: &Result<BundlePlan, Failure>) -> String {
    let mut text = about(bundle);
    match plan {
        Ok(plan) => text.push_str(&plan_text::words(&plan.install)),
        Err(failure) => text.push_str(&format!("problem     {}\n", line(&failure.message))),
    }
    for file in bundle.archive.files() {
        let executable = if file.executable { " (may be run)" } else { "" };
        text.push_str(&format!("file        {} {} bytes{executable}\n", visible::value(&file.path), file.size));
    }
    text
}
