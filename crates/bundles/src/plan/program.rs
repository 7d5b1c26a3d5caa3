//! Locates the program that a bundle runs.

use installs::InstallNote;
use launches::packages::launched_package;
use serde::Serialize;

use super::{BundleEnvironment, PlanError, Platform};
use crate::manifest::normalized_bundle_path;
use crate::{Bundle, ServerKind};

/// Runtimes that commonly run bundles. A plan that uses one of them names it as [`ProgramLocation::Runtime`].
const COMMON_LANGUAGE_RUNTIMES: [&str; 5] = ["node", "python", "python3", "uv", "docker"];
/// Programs that download a package and run it. A bundle that uses one of them contains hardly any code itself.
const DOWNLOADING_LAUNCHERS: [&str; 2] = ["npx", "uvx"];

/// Location of the program that a bundle runs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "kind", content = "name", rename_all = "camelCase")]
pub enum ProgramLocation {
    /// The program is the file with this path in the bundle.
    Inside(String),
    /// The program is a common runtime of this name, which is found through the user's `PATH`.
    Runtime(String),
    /// The program is neither in the bundle nor a common runtime. Contains its name or path on this computer.
    Foreign(String),
}

/// Locates the program of a bundle's command, and also returns the text to start it with: its absolute path, if it is a
/// file in the bundle. `written` is the program as written in the manifest, and `command` the same after substitution.
pub(super) fn find_program(
    bundle: &Bundle,
    environment: &BundleEnvironment,
    written: &str,
    command: String,
) -> Result<(ProgramLocation, String), PlanError> {
    if !written.contains(['/', '\\']) && bundle.archive.file(written).is_none() {
        let name = command.strip_suffix(".exe").unwrap_or(&command);
        let is_runtime = COMMON_LANGUAGE_RUNTIMES.contains(&name) || DOWNLOADING_LAUNCHERS.contains(&name);
        let program = if is_runtime {
            ProgramLocation::Runtime(name.to_owned())
        } else {
            ProgramLocation::Foreign(command.clone())
        };
        return Ok((program, command));
    }
    let folder = super::unicode_folder_path(&environment.folder)?;
    let below = command.strip_prefix(&folder).and_then(|rest| rest.strip_prefix(['/', '\\']));
    let is_absolute = command.starts_with(['/', '\\']) || command.contains(':');
    if below.is_none() && is_absolute {
        return Ok((ProgramLocation::Foreign(command.clone()), command));
    }
    let below = match (below, environment.platform) {
        (Some(below), Platform::Windows) => below.replace('\\', "/"),
        (Some(below), _) => below.to_owned(),
        (None, _) => written.to_owned(),
    };
    let path = normalized_bundle_path(&below).and_then(|path| {
        let with_extension = (environment.platform == Platform::Windows).then(|| format!("{path}.exe"));
        [Some(path), with_extension].into_iter().flatten().find(|path| bundle.archive.file(path).is_some())
    });
    let path = path.ok_or(PlanError::MissingProgram(below))?;
    let command = format!(
        "{folder}{0}{1}",
        environment.platform.separator(),
        path.replace('/', environment.platform.separator())
    );
    Ok((ProgramLocation::Inside(path), command))
}

impl ProgramLocation {
    /// Returns a warning if the program of a bundle is not in the bundle or loads code over the network, or `None`
    /// otherwise.
    pub(super) fn warning(&self, command: &str, args: &[String], kind: ServerKind) -> Option<InstallNote> {
        // Bundles of the type uv have their own warning.
        let runs_by_uv = || kind != ServerKind::Uv && args.iter().any(|arg| arg == "run");
        let loads = match self {
            Self::Runtime(name) if DOWNLOADING_LAUNCHERS.contains(&name.as_str()) || name == "docker" => true,
            Self::Runtime(name) if name == "uv" => runs_by_uv(),
            // Covers rarer launchers, and launchers that a shell starts.
            Self::Runtime(_) | Self::Foreign(_) => launched_package(command, args).is_some(),
            Self::Inside(_) => false,
        };
        let program = foreign::escape_invisible(command).into_owned();
        match self {
            _ if loads => Some(InstallNote::LoadsOverNetwork { program }),
            Self::Foreign(_) => Some(InstallNote::ProgramOutside { program }),
            Self::Inside(_) | Self::Runtime(_) => None,
        }
    }
}
