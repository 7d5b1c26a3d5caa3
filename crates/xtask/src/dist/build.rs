//! Builds the programs for the packages without embedding paths of the build machine.

use std::path::{Path, PathBuf};
use std::{env, fs};

use super::release::Release;
use crate::problem::Problem;
use crate::process::{self, cargo};
use crate::progress::print_step;
use crate::workspace;

/// Names of the programs that the packages contain.
pub(super) const PACKAGED_PROGRAMS: &[&str] = &["drawbridge", "drawbridge-cli", "demo-server"];

/// Builds all packed programs with a single cargo command, so that their dependencies are built once.
pub(super) fn build_programs(profile: &str, release: &Release) -> Result<(), Problem> {
    let auditable = process::command_succeeds("cargo", &["auditable", "--version"]);
    print_step(&format!(
        "building {} ({profile}{}); a first release build takes a quarter of an hour and more",
        PACKAGED_PROGRAMS.join(", "),
        if auditable { ", with the list of crates for cargo audit" } else { "" }
    ));
    if !auditable {
        println!(
            "Skipped: the programs contain no list of their crates, because cargo-auditable is not installed (--yes installs it)."
        );
    }
    let (root, registry) = (workspace::root_folder(), cargo_home()?);
    let call = if auditable { cargo().arg("auditable") } else { cargo() };
    let packages = PACKAGED_PROGRAMS.iter().flat_map(|program| ["-p", program]);
    call.dir(&root)
        .args(["build", "--locked", "--profile", profile])
        .args(packages)
        .args(["--features", "drawbridge/custom-protocol"])
        .env("CARGO_ENCODED_RUSTFLAGS", reproducible_rust_flags(&root, &registry))
        .without_env("RUSTFLAGS")
        .env("CFLAGS", reproducible_c_flags(&root, &registry))
        .env("SOURCE_DATE_EPOCH", release.epoch.to_string())
        .run()
}

/// Returns the name of the folder in `target/` that Cargo uses for a profile.
pub(super) fn cargo_profile_folder_name(profile: &str) -> &str {
    if profile == "dev" { "debug" } else { profile }
}

/// Returns Cargo's home folder, which contains the sources of dependencies.
pub(super) fn cargo_home() -> Result<PathBuf, Problem> {
    env::var_os("CARGO_HOME")
        .map(PathBuf::from)
        .or_else(|| env::home_dir().map(|home| home.join(".cargo")))
        .ok_or_else(|| Problem::Machine("neither CARGO_HOME nor a home folder is known".into()))
}

/// Returns compiler flags that replace paths of this machine by fixed ones, since error messages and the build id would
/// contain them.
fn reproducible_rust_flags(root: &Path, registry: &Path) -> String {
    let remap = |from: &Path, to: &str| format!("--remap-path-prefix={}={to}", from.display());
    [
        remap(root, "/usr/src/drawbridge"),
        remap(registry, "/usr/src/cargo"),
        "-C".into(),
        "link-arg=-Wl,--build-id=none".into(),
        // Packed relative relocations are a tenth of the size. They require glibc 2.36, which Debian 12 has.
        "-C".into(),
        "link-arg=-Wl,-z,pack-relative-relocs".into(),
    ]
    // Cargo splits `CARGO_ENCODED_RUSTFLAGS` at this character, so that flags may contain spaces.
    .join("\x1f")
}

/// Returns flags for the compiler of C libraries with the same path replacements as [`reproducible_rust_flags`], since
/// their error messages contain file names.
fn reproducible_c_flags(root: &Path, registry: &Path) -> String {
    let map = |from: &Path, to: &str| format!("-ffile-prefix-map={}={to}", from.display());
    format!("{} {}", map(root, "/usr/src/drawbridge"), map(registry, "/usr/src/cargo"))
}

/// Returns an error if a built program contains the path of a folder of this machine.
pub(super) fn check_no_build_paths_embedded(profile: &str) -> Result<(), Problem> {
    let folders = [workspace::root_folder(), cargo_home()?];
    for program in PACKAGED_PROGRAMS {
        let path = workspace::binary_path(cargo_profile_folder_name(profile), program);
        let bytes = fs::read(&path).map_err(Problem::file_error(&path))?;
        for folder in &folders {
            let needle = folder.as_os_str().as_encoded_bytes();
            if bytes.windows(needle.len()).any(|window| window == needle) {
                println!("note: {} names {}, so it differs when built elsewhere", path.display(), folder.display());
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn compiler_flags_name_each_folder_once_and_preserve_spaces() {
        let flags = reproducible_rust_flags(Path::new("/home/an n/src"), Path::new("/cargo"));
        let flags: Vec<_> = flags.split('\x1f').collect();
        assert_eq!(
            flags[0], "--remap-path-prefix=/home/an n/src=/usr/src/drawbridge",
            "a space should not split a flag"
        );
        assert_eq!(
            flags[1], "--remap-path-prefix=/cargo=/usr/src/cargo",
            "paths of registry sources should be replaced too"
        );
    }

    #[test]
    fn dev_profile_is_built_in_the_debug_folder() {
        assert_eq!(cargo_profile_folder_name("dev"), "debug", "the dev profile should use the folder debug");
        assert_eq!(
            cargo_profile_folder_name("release"),
            "release",
            "other profiles should use the folder of their name"
        );
    }
}
