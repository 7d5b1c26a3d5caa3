//! Software bills of materials (SBOM) in CycloneDX JSON. cargo-cyclonedx writes those of the programs, and npm writes
//! that of the page.

use std::fs;
use std::path::{Path, PathBuf};

use super::release::Release;
use crate::problem::Problem;
use crate::process::{self, cargo};
use crate::progress::print_step;
use crate::{node, workspace};

/// Cargo subcommands for the SBOM, with the versions that `--yes` installs.
const SBOM_CARGO_TOOLS: &[(&str, &str)] = &[("auditable", "0.7.7"), ("cyclonedx", "0.5.9")];

/// Installs the missing cargo subcommands if `yes` is set. The packages can also be built without them.
pub(super) fn install_sbom_tools(yes: bool) -> Result<(), Problem> {
    for (name, version) in SBOM_CARGO_TOOLS {
        if yes && !is_cargo_tool_installed(name) {
            print_step(&format!("installing cargo-{name} {version}"));
            cargo().args(["install", "--locked", &format!("cargo-{name}@{version}")]).run()?;
        }
    }
    Ok(())
}

fn is_cargo_tool_installed(name: &str) -> bool {
    process::command_succeeds("cargo", &[name, "--version"])
}

/// Writes the SBOM files that the installed tools can create, and prints which are omitted. Returns the paths of the
/// written files.
pub(super) fn write_sboms(out: &Path, release: &Release) -> Result<Vec<PathBuf>, Problem> {
    print_step("writing the bill of materials");
    let mut written = vec![write_ui_sbom(out, release)?];
    if is_cargo_tool_installed("cyclonedx") {
        written.extend(collect_program_sboms(out, release)?);
    } else {
        println!(
            "Skipped: the bill of materials of the programs, because cargo-cyclonedx is not installed (--yes installs it)."
        );
    }
    Ok(written)
}

fn write_ui_sbom(out: &Path, release: &Release) -> Result<PathBuf, Problem> {
    let file = out.join("drawbridge-page.cdx.json");
    // Development dependencies are included, since the code of some of them is part of the page.
    let text = node::npm(&workspace::ui_folder()).args(["sbom", "--sbom-format", "cyclonedx"]).output()?;
    let text = with_full_repository_urls(&make_sbom_reproducible(&text, release)?)?;
    fs::write(&file, text).map_err(Problem::file_error(&file))?;
    Ok(file)
}

/// Returns the SBOM with all repository references as valid URLs, which CycloneDX requires. npm copies abbreviated
/// references such as `git@HOST:PATH` or `OWNER/REPOSITORY` from the packages.
fn with_full_repository_urls(text: &str) -> Result<String, Problem> {
    let mut bill = parse_json(text)?;
    for component in bill["components"].as_array_mut().into_iter().flatten() {
        for reference in component["externalReferences"].as_array_mut().into_iter().flatten() {
            if let Some(address) = reference["url"].as_str().and_then(expand_repository_reference) {
                reference["url"] = address.into();
            }
        }
    }
    Ok(format!("{bill:#}\n"))
}

/// Returns the URL for an abbreviated repository reference, or `None` if the reference is already a URL.
fn expand_repository_reference(written: &str) -> Option<String> {
    if written.contains("://") {
        return None;
    }
    match written.strip_prefix("git@").and_then(|rest| rest.split_once(':')) {
        Some((host, path)) => Some(format!("ssh://git@{host}/{path}")),
        None => Some(format!("https://github.com/{written}")),
    }
}

/// Moves the files that cargo-cyclonedx wrote for the packed programs to the output folder, and deletes those for other
/// packages.
fn collect_program_sboms(out: &Path, release: &Release) -> Result<Vec<PathBuf>, Problem> {
    let name = "drawbridge-sbom.cdx";
    cargo()
        .dir(workspace::root_folder())
        .args(["cyclonedx", "--format", "json", "--spec-version", "1.5", "--override-filename", name, "--quiet"])
        .args(["--manifest-path", "src-tauri/Cargo.toml"])
        .env("SOURCE_DATE_EPOCH", release.epoch.to_string())
        .run()?;
    let mut written = Vec::new();
    let folders =
        [("src-tauri", "drawbridge"), ("crates/cli", "drawbridge-cli"), ("crates/demo-server", "demo-server")];
    for (folder, program) in folders {
        let from = workspace::root_folder().join(folder).join(format!("{name}.json"));
        let text = fs::read_to_string(&from).map_err(Problem::file_error(&from))?;
        let file = out.join(format!("{program}.cdx.json"));
        fs::write(&file, make_sbom_reproducible(&text, release)?).map_err(Problem::file_error(&file))?;
        written.push(file);
    }
    for folder in ["", "crates", "tests", "tests/bench/peers", "tests/fuzz"] {
        for entry in fs::read_dir(workspace::root_folder().join(folder)).into_iter().flatten().flatten() {
            // cargo-cyclonedx does not write a file for every package.
            let _ = fs::remove_file(entry.path().join(format!("{name}.json")));
        }
    }
    Ok(written)
}

/// Returns the SBOM without values that differ between builds: the random serial number, the time, and paths of this
/// machine.
fn make_sbom_reproducible(text: &str, release: &Release) -> Result<String, Problem> {
    let mut value = parse_json(text)?;
    if let Some(fields) = value.as_object_mut() {
        fields.remove("serialNumber");
    }
    if !value["metadata"]["timestamp"].is_null() {
        value["metadata"]["timestamp"] = release.date("+%FT%TZ")?.into();
    }
    let text = format!("{value:#}\n");
    Ok(text.replace(&workspace::root_folder().display().to_string(), "/usr/src/drawbridge"))
}

fn parse_json(text: &str) -> Result<serde_json::Value, Problem> {
    serde_json::from_str(text).map_err(|error| Problem::Machine(format!("the bill of materials is no JSON: {error}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn repository_references_are_expanded_to_urls() {
        let written = [
            ("git@github.com:chaijs/assertion-error.git", "ssh://git@github.com/chaijs/assertion-error.git"),
            ("unjs/std-env", "https://github.com/unjs/std-env"),
            ("git+https://github.com/a/b.git", "git+https://github.com/a/b.git"),
        ];
        for (written, meant) in written {
            let bill = format!(r#"{{"components":[{{"externalReferences":[{{"type":"vcs","url":"{written}"}}]}}]}}"#);
            let bill = parse_json(&with_full_repository_urls(&bill).unwrap()).unwrap();
            assert_eq!(bill["components"][0]["externalReferences"][0]["url"], meant, "{written}");
        }
    }

    #[test]
    fn two_sboms_of_one_commit_are_equal() {
        let release = Release { version: "1.2.3".into(), epoch: 0 };
        let bill = |serial: &str, time: &str| {
            format!(
                r#"{{"serialNumber":"{serial}","metadata":{{"timestamp":"{time}"}},"components":[{{"name":"a"}}]}}"#
            )
        };
        let one = make_sbom_reproducible(&bill("urn:uuid:1", "2026-01-01T00:00:00Z"), &release).unwrap();
        let two = make_sbom_reproducible(&bill("urn:uuid:2", "2026-01-02T00:00:00Z"), &release).unwrap();
        assert_eq!(one, two, "serial number and time should not differ between builds");
        assert!(
            one.contains("1970-01-01T00:00:00Z") && one.contains("\"a\""),
            "the time should be that of the commit: {one}"
        );
    }
}
