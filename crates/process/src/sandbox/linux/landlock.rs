//! Sandboxes with Landlock: the kernel denies the process access to all files except the permitted ones.
//! [Documentation](https://docs.kernel.org/userspace-api/landlock.html).

use std::io;
use std::os::fd::AsFd;
use std::path::Path;

use landlock::{
    ABI, Access, AccessFs, BitFlags, CompatLevel, Compatible, PathBeneath, PathFd, Ruleset, RulesetAttr,
    RulesetCreated, RulesetCreatedAttr, RulesetError, RulesetStatus, Scope,
};

use super::opened_paths::OpenedPath;
use super::sandbox_setup_error;

/// Minimum Landlock ABI that the kernel must enforce (Linux 6.2). Earlier ABIs can't prevent a program from truncating
/// a file that it may only read.
const MIN_LANDLOCK_ABI: ABI = ABI::V3;
/// Landlock ABI that is enforced if the kernel supports it (from Linux 6.12). It also blocks signals to processes
/// outside the sandbox, and connections to their abstract sockets.
const PREFERRED_LANDLOCK_ABI: ABI = ABI::V6;

/// Device files that are accessible in every sandbox. They contain no user data.
const ACCESSIBLE_DEVICES: [&str; 5] = ["/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom"];
/// Folder of the proc file system, in which a process finds information about itself. It also shows names and command
/// lines of processes outside the sandbox, but not their memory, environment and open files, because a sandboxed
/// process may not trace them.
const PROC_FOLDER: &str = "/proc";

/// Checks that the kernel can enforce [`MIN_LANDLOCK_ABI`].
///
/// # Errors
/// Returns a message that explains why the kernel can't.
pub(super) fn check_landlock_support() -> Result<(), String> {
    new_ruleset().map(drop).map_err(|error| ruleset_error_text(&error))
}

/// Returns Landlock rules that permit access only to these opened paths, [`PROC_FOLDER`] and [`ACCESSIBLE_DEVICES`].
pub(super) fn build_landlock_rules(reached: Vec<OpenedPath>) -> Result<RulesetCreated, String> {
    let mut rules = new_ruleset().map_err(|error| ruleset_error_text(&error))?;
    for OpenedPath { path, writable, is_folder, descriptor } in reached {
        let access =
            if writable { AccessFs::from_all(MIN_LANDLOCK_ABI) } else { AccessFs::from_read(MIN_LANDLOCK_ABI) };
        rules = match descriptor {
            Some(descriptor) => allow_opened_path(rules, descriptor, &path, is_folder, access)?,
            None => allow_access_to_path(rules, &path, access)?,
        };
    }
    rules = allow_access_to_path(rules, Path::new(PROC_FOLDER), AccessFs::from_read(MIN_LANDLOCK_ABI))?;
    for path in ACCESSIBLE_DEVICES.iter().map(Path::new).filter(|path| path.exists()) {
        rules = allow_access_to_path(rules, path, AccessFs::from_file(MIN_LANDLOCK_ABI))?;
    }
    Ok(rules)
}

/// Applies Landlock rules to the current process. Runs in the child before its program.
pub(super) fn enforce(rules: RulesetCreated) -> io::Result<()> {
    let status = rules.restrict_self().map_err(sandbox_setup_error)?;
    if status.ruleset == RulesetStatus::NotEnforced {
        Err(sandbox_setup_error("Landlock was not enforced"))
    } else {
        Ok(())
    }
}

fn new_ruleset() -> Result<RulesetCreated, RulesetError> {
    Ruleset::default()
        .set_compatibility(CompatLevel::HardRequirement)
        .handle_access(AccessFs::from_all(MIN_LANDLOCK_ABI))?
        .set_compatibility(CompatLevel::BestEffort)
        .scope(Scope::from_all(PREFERRED_LANDLOCK_ABI))?
        .create()
}

fn allow_access_to_path(
    rules: RulesetCreated,
    path: &Path,
    access: BitFlags<AccessFs>,
) -> Result<RulesetCreated, String> {
    let open = PathFd::new(path).map_err(|error| rule_error_text(path, &error))?;
    allow_opened_path(rules, open, path, path.is_dir(), access)
}

fn allow_opened_path(
    rules: RulesetCreated,
    open: impl AsFd,
    path: &Path,
    is_folder: bool,
    access: BitFlags<AccessFs>,
) -> Result<RulesetCreated, String> {
    // Access rights for folders are invalid for a file.
    let access = if is_folder { access } else { access & AccessFs::from_file(MIN_LANDLOCK_ABI) };
    rules.add_rule(PathBeneath::new(open, access)).map_err(|error| rule_error_text(path, &error))
}

fn rule_error_text(path: &Path, cause: &dyn std::fmt::Display) -> String {
    format!("Landlock can't allow {}: {cause}", path.display())
}

fn ruleset_error_text(error: &RulesetError) -> String {
    format!("Landlock can't be used ({error}; it requires Linux 6.2 or later)")
}
