//! Files that a command leads to: interpreters of scripts and settings of Python environments, each with the reason why it counts.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::programs::{SearchPath, interpreter, is_of_system};

/// The most interpreters that run interpreters.
const MOST_INTERPRETERS: usize = 3;

/// How a command leads to a file that decides what it runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum LaunchFileRole {
    /// The command leads to it.
    Program,
    /// The first line of the program, or of its interpreter, names it.
    Interpreter,
    /// The settings of the Python environment that the program or its interpreter belongs to.
    Environment,
    /// An argument names it.
    Argument,
    /// A variable names it.
    Variable,
}

/// A file, and why it counts.
pub(super) type Found = (PathBuf, LaunchFileRole);

/// The interpreters that the first lines of scripts name, but those of the system.
pub(super) fn interpreters(program: &Path, path: &SearchPath, found: &mut Vec<Found>) {
    let mut script = program.to_owned();
    for _ in 0..MOST_INTERPRETERS {
        let Some(next) = script.canonicalize().ok().and_then(|real| interpreter(&real, path)) else { return };
        let is_of_system = next.canonicalize().is_ok_and(|real| is_of_system(&real));
        if !is_of_system {
            found.push((next.clone(), LaunchFileRole::Interpreter));
            found.extend(python_environment(&next));
        }
        script = next;
    }
}

/// The file that says where a Python environment has its modules and its interpreter.
pub(super) fn python_environment(program: &Path) -> Option<Found> {
    let folder = program.parent()?;
    let of = |folder: &Path| Some(folder.join("pyvenv.cfg")).filter(|file| file.is_file());
    let settings = folder.parent().and_then(of).or_else(|| of(folder))?;
    Some((settings, LaunchFileRole::Environment))
}
