//! Finds the interpreters of scripts and the settings of Python environments that a command uses, each with its role.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::programs::{SearchPath, find_interpreter, is_in_system_folder};

/// Maximum number of interpreters that are followed when the interpreter of a script is a script itself.
const MAX_INTERPRETER_CHAIN: usize = 3;

/// Reason why a file decides what a command runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum LaunchFileRole {
    /// The program that the command runs.
    Program,
    /// An interpreter named by the first line of the program or of another interpreter.
    Interpreter,
    /// Settings of the Python environment that contains the program or its interpreter.
    Environment,
    /// A file that an argument of the command names.
    Argument,
    /// A file that an environment variable names.
    Variable,
}

/// Path of a file that decides what a command runs, and the reason why it does.
pub(super) type FoundLaunchFile = (PathBuf, LaunchFileRole);

/// Adds to `found` the interpreters that the first lines of the program and of its interpreters name, except those in
/// system folders.
pub(super) fn collect_interpreters(program: &Path, path: &SearchPath, found: &mut Vec<FoundLaunchFile>) {
    let mut script = program.to_owned();
    for _ in 0..MAX_INTERPRETER_CHAIN {
        let Some(next) = script.canonicalize().ok().and_then(|real| find_interpreter(&real, path)) else { return };
        let is_of_system = next.canonicalize().is_ok_and(|real| is_in_system_folder(&real));
        if !is_of_system {
            found.push((next.clone(), LaunchFileRole::Interpreter));
            found.extend(python_environment(&next));
        }
        script = next;
    }
}

/// Returns the `pyvenv.cfg` of the Python environment that contains a program. The file defines the locations of the
/// environment's modules and interpreter.
pub(super) fn python_environment(program: &Path) -> Option<FoundLaunchFile> {
    let folder = program.parent()?;
    let of = |folder: &Path| Some(folder.join("pyvenv.cfg")).filter(|file| file.is_file());
    let settings = folder.parent().and_then(of).or_else(|| of(folder))?;
    Some((settings, LaunchFileRole::Environment))
}
