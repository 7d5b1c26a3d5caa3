//! The files with code that the arguments and variables of a command name. [`launch_files`](super::launch_files) hashes them.
//!
//! A file counts where its name or first bytes say that it is code, wherever it is named, and whatever it is called where an
//! interpreter, a wrapper (`env`, `sh -c`) or a project tool (`make -f`) would run it. In doubt a file counts: then a change of it
//! asks once more than needed.
//!
//! Not found: what code in an argument puts together at run time, modules that a script loads, what files of a project
//! name in turn (`package.json` scripts, Compose files), Python's own `site-packages` and `.pth` files, and what lies beyond the
//! limits below. The threat model says so.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::files::{has_code_name, is_code, libraries, module_files, run_by, user_packages};
use super::found::{Found, LaunchFileRole, interpreters, python_environment};
use super::paths::paths_in;
use super::variables::{FOLDER_VARIABLES, HOME_FILES, LIBRARY_VARIABLES, OPTION_VARIABLES, RUN_VARIABLES, SITE};
use super::words::{
    PACKAGES, Runner, commands_in, ends_with_module, is_valued, looks_above, module_of, option_and_value,
    project_files, takes_packages,
};
use crate::programs::{SearchPath, is_of_system};

/// The most arguments and variables that are looked at, with the words in them.
const MOST_WORDS: usize = 1024;
/// The most paths that are looked up in all bases, as often as they are looked up.
const MOST_LOOKUPS: usize = 8 * 1024;
/// The most folders that a relative path is looked up in.
const MOST_BASES: usize = 16;
/// The most folders above the working directory in which files of a project are looked up.
const MOST_ABOVE: usize = 64;
/// How deep command lines in arguments are looked into: `env -S "sh -c '…'"`.
const MOST_DEPTH: usize = 4;

/// The parts of a command that name files.
pub(crate) struct CommandLine<'c> {
    /// Its arguments, one by one.
    pub(crate) arguments: &'c [String],
    /// The variables that are configured for it.
    pub(crate) environment: &'c BTreeMap<String, String>,
    /// Where it runs.
    pub(crate) directory: PathBuf,
}

/// The files and folders that arguments and variables name.
pub(super) struct ScriptFiles {
    pub(super) found: Vec<Found>,
    /// Folders with packages of a project that may be run in place of what is named.
    pub(super) folders: Vec<PathBuf>,
}

/// The files with code that arguments and variables name, in their order.
pub(super) fn script_files(command: &CommandLine<'_>, program: &Path, path: &SearchPath) -> ScriptFiles {
    let mut scripts = Scripts {
        command,
        path: path.clone(),
        bases: bases(command),
        above: above(&command.directory),
        found: Vec::new(),
        folders: Vec::new(),
        role: LaunchFileRole::Argument,
        words: MOST_WORDS,
        lookups: MOST_LOOKUPS,
    };
    let mut runner = scripts.runner(&program.to_string_lossy());
    if let Some(real) = program.canonicalize().ok().filter(|_| runner == Runner::Other) {
        runner = scripts.runner(&real.to_string_lossy());
    }
    scripts.line(runner, command.arguments, MOST_DEPTH);
    scripts.role = LaunchFileRole::Variable;
    for (name, value) in command.environment {
        scripts.variable(name, value);
    }
    ScriptFiles { found: scripts.found, folders: scripts.folders }
}

/// The folders in which tools look for the files of a project: the working directory as the system tells it to them, and those above.
fn above(directory: &Path) -> Vec<PathBuf> {
    let real = directory.canonicalize().unwrap_or_else(|_| directory.to_owned());
    real.ancestors().take(MOST_ABOVE).map(Path::to_owned).collect()
}

/// The folders in which relative paths and modules are looked up: the working directory, those of variables, and those of arguments.
fn bases(command: &CommandLine<'_>) -> Vec<PathBuf> {
    let directory = &command.directory;
    let mut bases = vec![directory.clone()];
    let of_variables = command
        .environment
        .iter()
        .filter(|(name, _)| FOLDER_VARIABLES.contains(&name.as_str()))
        .map(|(_, value)| value);
    let texts = of_variables.chain(command.arguments).take(MOST_WORDS);
    let paths = texts.flat_map(|text| paths_in(text, command.environment)).take(MOST_LOOKUPS);
    for folder in paths.map(|path| directory.join(path)) {
        if bases.len() < MOST_BASES && folder.is_dir() && !bases.contains(&folder) {
            bases.push(folder);
        }
    }
    bases
}

struct Scripts<'c> {
    command: &'c CommandLine<'c>,
    path: SearchPath,
    bases: Vec<PathBuf>,
    /// The working directory and those above it, with no link in them.
    above: Vec<PathBuf>,
    found: Vec<Found>,
    folders: Vec<PathBuf>,
    /// Why a file counts that is found now.
    role: LaunchFileRole,
    /// The words that may still be looked at.
    words: usize,
    /// The paths that may still be looked up.
    lookups: usize,
}

impl Scripts<'_> {
    /// Looks through the arguments of a program.
    fn line(&mut self, mut runner: Runner, words: &[String], depth: usize) {
        let mut before = "";
        for word in words {
            let Some(left) = self.words.checked_sub(1) else { return };
            self.words = left;
            self.code_in(word);
            if word.contains(char::is_whitespace)
                && let Some(depth) = depth.checked_sub(1)
            {
                for command in commands_in(word) {
                    // What an unknown program gets is text more often than a command.
                    let is_command = command.first().is_some_and(|first| Runner::of(first) != Runner::Other);
                    if runner != Runner::Other || is_command {
                        self.line(Runner::Wrapper, &command, depth);
                    }
                }
            }
            runner = self.word(runner, before, word);
            before = word;
        }
    }

    /// Looks at one word, and tells how the next one is treated.
    fn word(&mut self, runner: Runner, before: &str, word: &str) -> Runner {
        if runner != Runner::Other
            && let Some(module) = module_of(before, word)
        {
            self.modules(module);
        }
        if let Some((_, value)) = option_and_value(word).filter(|(option, _)| runner.runs_value(option)) {
            self.run(value);
        } else if runner.runs_value(before) {
            self.run(word);
        }
        if word.starts_with('-') {
            return runner.after(word);
        }
        match runner {
            Runner::Wrapper => self.program(word),
            Runner::Project => {
                self.runner(word);
                runner
            }
            Runner::Python if ends_with_module(before) => Runner::Other,
            runner if runner.runs_script() => {
                self.modules(word);
                // Without a file by this name it is a value of the option before it, or a subcommand.
                let runs = self.run(word) || has_code_name(Path::new(word));
                if runs && !is_valued(before) { Runner::Other } else { runner }
            }
            runner => runner,
        }
    }

    fn count(&mut self, files: impl IntoIterator<Item = PathBuf>) {
        let role = self.role;
        self.found.extend(files.into_iter().map(|file| (file, role)));
    }

    /// How a program treats its arguments. The files of its project count, and the folders with packages that it may take code from.
    fn runner(&mut self, program: &str) -> Runner {
        for file in project_files(program) {
            let above = self.above.iter().filter(|_| looks_above(program));
            let files: Vec<PathBuf> = self.bases.iter().chain(above).map(|base| base.join(file)).collect();
            self.count(files.into_iter().filter(|file| file.is_file()));
        }
        if takes_packages(program) {
            let folders = self.above.iter().map(|folder| folder.join(PACKAGES)).filter(|folder| folder.exists());
            self.folders.extend(folders);
            self.folders.sort_unstable();
            self.folders.dedup();
        }
        Runner::of(program)
    }

    /// A word that may be the program which a wrapper runs.
    fn program(&mut self, word: &str) -> Runner {
        if let Some(folders) = word.strip_prefix("PATH=") {
            let directory = &self.command.directory;
            let folders = self.paths(folders).into_iter().map(|folder| directory.join(folder));
            let mut folders: Vec<PathBuf> = folders.filter(|folder| folder.is_dir()).collect();
            folders.append(&mut self.path.directories);
            self.path.directories = folders;
        }
        let file = self.path.find(word, &self.command.directory).ok().filter(|file| file.is_file());
        let is_of_system = |file: &PathBuf| file.canonicalize().is_ok_and(|real| is_of_system(&real));
        if let Some(file) = file.filter(|file| !is_of_system(file)) {
            self.count([file.clone()]);
            interpreters(&file, &self.path, &mut self.found);
            self.found.extend(python_environment(&file));
        }
        match self.runner(word) {
            Runner::Other => Runner::Wrapper,
            runner => runner,
        }
    }

    /// The paths of a text, as long as any may be looked up.
    fn paths(&mut self, text: &str) -> Vec<PathBuf> {
        let mut paths = paths_in(text, self.command.environment);
        paths.truncate(self.lookups);
        self.lookups -= paths.len();
        paths
    }

    /// Files that run whatever they are called. Tells if there are any.
    fn run(&mut self, text: &str) -> bool {
        let before = self.found.len();
        for path in self.paths(text) {
            let files: Vec<PathBuf> = self.bases.iter().flat_map(|base| run_by(&base.join(&path))).collect();
            self.count(files);
        }
        self.found.len() > before
    }

    /// Files with code that a text names anywhere.
    fn code_in(&mut self, text: &str) {
        for path in self.paths(text) {
            let files = self.bases.iter().map(|base| base.join(&path));
            let files: Vec<PathBuf> = files.filter(|file| file.is_file() && is_code(file)).collect();
            self.count(files);
        }
    }

    /// The files of a module in all folders.
    fn modules(&mut self, module: &str) {
        let files: Vec<PathBuf> = self.bases.iter().flat_map(|base| module_files(base, module)).collect();
        self.count(files);
    }

    /// The folders of a variable of which certain files count.
    fn folders_of(&mut self, name: &str, value: &str) -> Vec<PathBuf> {
        if !LIBRARY_VARIABLES.contains(&name) && !matches!(name, "HOME" | "PYTHONUSERBASE" | "ZDOTDIR") {
            return Vec::new();
        }
        let directory = &self.command.directory;
        self.paths(value).into_iter().map(|path| directory.join(path)).filter(|folder| folder.is_dir()).collect()
    }

    /// Files that a variable names.
    fn variable(&mut self, name: &str, value: &str) {
        let Some(left) = self.words.checked_sub(1) else { return };
        self.words = left;
        self.code_in(value);
        if RUN_VARIABLES.contains(&name) {
            self.run(value);
        }
        if name == "PYTHONPATH" {
            SITE.into_iter().for_each(|module| self.modules(module));
        }
        for folder in self.folders_of(name, value) {
            let files = match name {
                "HOME" | "ZDOTDIR" => HOME_FILES.map(|file| folder.join(file)).into(),
                "PYTHONUSERBASE" => {
                    let packages = user_packages(&folder);
                    packages.iter().flat_map(|packages| SITE.map(|site| packages.join(format!("{site}.py")))).collect()
                }
                _ => libraries(&folder),
            };
            self.count(files.into_iter().filter(|file| file.is_file()));
        }
        if OPTION_VARIABLES.contains(&name) {
            for command in commands_in(value) {
                self.line(Runner::Interpreter, &command, 0);
            }
        }
    }
}

#[cfg(all(test, unix))]
#[path = "script_files_tests.rs"]
mod tests;
