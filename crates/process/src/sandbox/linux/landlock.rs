//! Landlock: the kernel refuses the process every file that was not named.
//! [Documentation](https://docs.kernel.org/userspace-api/landlock.html).

use std::io;
use std::os::fd::AsFd;
use std::path::Path;

use landlock::{
    ABI, Access, AccessFs, BitFlags, CompatLevel, Compatible, PathBeneath, PathFd, Ruleset, RulesetAttr,
    RulesetCreated, RulesetCreatedAttr, RulesetError, RulesetStatus, Scope,
};

use super::opened::Opened;
use super::refused;

/// What must be enforced. Before it, a file that may only be read could be emptied (Linux 6.2).
const LEAST: ABI = ABI::V3;
/// What is enforced where the kernel can: signals to, and sockets of, processes outside (Linux 6.12).
const MORE: ABI = ABI::V6;

/// Devices that are nobody's data.
const DEVICES: [&str; 5] = ["/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom"];
/// What a process may learn of itself. Of those outside it learns their names and command lines, and nothing of their memory,
/// environment or files, as it may not trace them.
const PROCESSES: &str = "/proc";

/// Whether the kernel can enforce what must be.
///
/// # Errors
/// Why not, in words.
pub(super) fn check() -> Result<(), String> {
    begun().map(drop).map_err(|error| said(&error))
}

/// The rules for this reach.
///
/// # Errors
/// Why the kernel does not take them, in words.
pub(super) fn rules(reached: Vec<Opened>) -> Result<RulesetCreated, String> {
    let mut rules = begun().map_err(|error| said(&error))?;
    for Opened { path, writable, is_folder, descriptor } in reached {
        let access = if writable { AccessFs::from_all(LEAST) } else { AccessFs::from_read(LEAST) };
        rules = match descriptor {
            Some(descriptor) => allow_opened(rules, descriptor, &path, is_folder, access)?,
            None => allow(rules, &path, access)?,
        };
    }
    rules = allow(rules, Path::new(PROCESSES), AccessFs::from_read(LEAST))?;
    for path in DEVICES.iter().map(Path::new).filter(|path| path.exists()) {
        rules = allow(rules, path, AccessFs::from_file(LEAST))?;
    }
    Ok(rules)
}

/// In the child: nothing else is reached from now on.
pub(super) fn enforce(rules: RulesetCreated) -> io::Result<()> {
    let status = rules.restrict_self().map_err(refused)?;
    if status.ruleset == RulesetStatus::NotEnforced { Err(refused("Landlock was not enforced")) } else { Ok(()) }
}

fn begun() -> Result<RulesetCreated, RulesetError> {
    Ruleset::default()
        .set_compatibility(CompatLevel::HardRequirement)
        .handle_access(AccessFs::from_all(LEAST))?
        .set_compatibility(CompatLevel::BestEffort)
        .scope(Scope::from_all(MORE))?
        .create()
}

fn allow(rules: RulesetCreated, path: &Path, access: BitFlags<AccessFs>) -> Result<RulesetCreated, String> {
    let open = PathFd::new(path).map_err(|error| not_allowed(path, &error))?;
    allow_opened(rules, open, path, path.is_dir(), access)
}

fn allow_opened(
    rules: RulesetCreated,
    open: impl AsFd,
    path: &Path,
    is_folder: bool,
    access: BitFlags<AccessFs>,
) -> Result<RulesetCreated, String> {
    // Rights that only folders have are no rights of a file.
    let access = if is_folder { access } else { access & AccessFs::from_file(LEAST) };
    rules.add_rule(PathBeneath::new(open, access)).map_err(|error| not_allowed(path, &error))
}

fn not_allowed(path: &Path, cause: &dyn std::fmt::Display) -> String {
    format!("Landlock can't allow {}: {cause}", path.display())
}

fn said(error: &RulesetError) -> String {
    format!("Landlock can't be used ({error}; it takes Linux 6.2 or later)")
}
