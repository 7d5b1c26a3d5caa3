//! The `bundle` command: shows the content of a bundle and the command that it would run.

use bundles::{Bundle, BundlePlan};
use installer::{BundleFile, RegistryChoice};
use serde_json::{Value, json};

use crate::arguments::{Arguments, BundleCommand};
use crate::failure::CommandFailure;
use crate::output::{Output, to_json_value};
use crate::session::file_locations;
use crate::terminal_escape::{self, escape_line};
use crate::{install_plan_text, registry};

/// Maximum number of files of a bundle that are listed. Bundles that include all dependencies contain thousands.
const MAX_BUNDLE_FILES_SHOWN: usize = 100;

/// Runs a `bundle` command, and returns its result as JSON.
pub(crate) async fn run(
    arguments: &Arguments,
    command: &BundleCommand,
    output: &Output,
) -> Result<Value, CommandFailure> {
    let BundleCommand::Inspect { file } = command;
    let root = registry::create_installer(file_locations(arguments)?.data_dir, RegistryChoice::Official)
        .bundles_folder()
        .await?;
    let file = BundleFile::open(file, &root).await?;
    let plan = file.plan().map_err(CommandFailure::from);
    let BundleFile { path: file, bundle, .. } = file;
    output.print_text(&bundle_text(&bundle, &plan));
    let files: Vec<_> = bundle.archive.files().collect();
    let (runs, problem) = match &plan {
        Ok(plan) => {
            let mut runs = install_plan_text::install_plan_json(&plan.install);
            runs["program"] = to_json_value(&plan.program);
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
        "warnings": bundle.warnings.iter().map(ToString::to_string).collect::<Vec<_>>(),
    }))
}

/// Formats the manifest of a bundle as readable text.
pub(crate) fn manifest_text(bundle: &Bundle) -> String {
    let manifest = &bundle.manifest;
    let author = if manifest.author.name.is_empty() { "nobody" } else { &manifest.author.name };
    let mut text =
        format!("bundle      {} {}\n", terminal_escape::escape_value(&manifest.name), escape_line(&manifest.version));
    if let Some(name) = &manifest.display_name {
        text.push_str(&format!("title       {}\n", escape_line(name)));
    }
    text.push_str(&format!("claim       {}\n", escape_line(&manifest.description)));
    text.push_str(&format!("author      {} (claimed by the bundle)\n", escape_line(author)));
    text.push_str(&format!("sha256      {}\n", bundle.archive.sha256()));
    text.push_str(&format!("signature   {}\n", bundle.archive.signature()));
    for warning in &bundle.warnings {
        text.push_str(&format!("warning     {}\n", escape_line(&warning.to_string())));
    }
    text
}

fn bundle_text(bundle: &Bundle, plan: &Result<BundlePlan, CommandFailure>) -> String {
    let mut text = manifest_text(bundle);
    match plan {
        Ok(plan) => text.push_str(&install_plan_text::install_plan_text(&plan.install)),
        Err(failure) => text.push_str(&format!("problem     {}\n", escape_line(&failure.message))),
    }
    let files: Vec<_> = bundle.archive.files().collect();
    for file in files.iter().take(MAX_BUNDLE_FILES_SHOWN) {
        let executable = if file.executable { " (may be run)" } else { "" };
        text.push_str(&format!(
            "file        {} {} bytes{executable}\n",
            terminal_escape::escape_value(&file.path),
            file.size
        ));
    }
    if let Some(more @ 1..) = files.len().checked_sub(MAX_BUNDLE_FILES_SHOWN) {
        text.push_str(&format!("files       {more} more; --json lists them all\n"));
    }
    text
}
