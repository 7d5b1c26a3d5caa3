//! Finds the code files that the arguments and variables of a command name. [`launch_files`](super::launch_files)
//! hashes them.
//!
//! A file is included if its name or first bytes identify it as code, wherever it is named. It is also included,
//! whatever its name is, where an interpreter, a wrapper (`env`, `sh -c`) or a project tool (`make -f`) would run it.
//! In doubt a file is included: the cost is one more consent request after a change of the file.
//!
//! Not found: paths that code in an argument computes at run time, modules that a script loads, files that project
//! files name in turn (`package.json` scripts, Compose files), Python's own `site-packages` and `.pth` files, and
//! anything beyond the limits below. The threat model lists these gaps.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::argument_handling::{
    ArgumentHandling, NODE_MODULES_FOLDER, is_module_option, module_named_by_word, option_and_value,
    parse_shell_commands, project_file_names, searches_ancestors_for_project_files, takes_value_that_is_not_code,
    uses_node_modules,
};
use super::argument_paths::paths_in_text;
use super::code_files::{
    files_run_for_path, has_code_name, is_code_file, module_files, python_user_packages, shared_libraries_in_folder,
};
use super::code_variables::{
    INTERPRETER_OPTION_VARIABLES, LIBRARY_FOLDER_VARIABLES, MODULE_FOLDER_VARIABLES, PRELOAD_FILE_VARIABLES,
    PYTHON_SITE_MODULES, START_UP_FILES_IN_HOME,
};
use super::interpreter_files::{FoundLaunchFile, LaunchFileRole, collect_interpreters, python_environment};
use crate::programs::{SearchPath, is_in_system_folder};

/// Maximum number of a command's arguments, variables, and words in them that are examined, in total.
const MAX_EXAMINED_WORDS: usize = 1024;
/// Maximum number of paths that are looked up for one command, each in all base folders.
const MAX_PATH_LOOKUPS: usize = 8 * 1024;
/// Maximum number of folders in which a relative path is looked up.
const MAX_BASE_FOLDERS: usize = 16;
/// Maximum number of ancestors of the working directory in which project files are looked up.
const MAX_SEARCHED_ANCESTORS: usize = 64;
/// Maximum nesting depth of command lines within arguments: `env -S "sh -c '…'"`.
const MAX_NESTED_COMMAND_DEPTH: usize = 4;

/// The parts of a command line that can name files.
pub(crate) struct CommandLine<'c> {
    /// Arguments of the command, without the program.
    pub(crate) arguments: &'c [String],
    /// Environment variables configured for the command.
    pub(crate) environment: &'c BTreeMap<String, String>,
    /// Working directory of the command.
    pub(crate) directory: PathBuf,
}

/// The files and folders that arguments and variables name.
pub(super) struct ScriptFiles {
    pub(super) found: Vec<FoundLaunchFile>,
    /// Package folders (`node_modules`) of the project, which may contain a program that runs instead of the named one.
    pub(super) folders: Vec<PathBuf>,
}

/// Returns the code files that arguments and variables name, in order.
pub(super) fn script_files(command: &CommandLine<'_>, program: &Path, path: &SearchPath) -> ScriptFiles {
    let mut scripts = ScriptSearch {
        command,
        path: path.clone(),
        bases: base_folders(command),
        ancestors: ancestor_folders(&command.directory),
        found: Vec::new(),
        folders: Vec::new(),
        role: LaunchFileRole::Argument,
        remaining_words: MAX_EXAMINED_WORDS,
        remaining_lookups: MAX_PATH_LOOKUPS,
    };
    let mut runner = scripts.argument_handling_of_program(&program.to_string_lossy());
    if let Some(real) = program.canonicalize().ok().filter(|_| runner == ArgumentHandling::Other) {
        runner = scripts.argument_handling_of_program(&real.to_string_lossy());
    }
    scripts.search_arguments(runner, command.arguments, MAX_NESTED_COMMAND_DEPTH);
    scripts.role = LaunchFileRole::Variable;
    for (name, value) in command.environment {
        scripts.search_variable(name, value);
    }
    ScriptFiles { found: scripts.found, folders: scripts.folders }
}

/// Returns the folders in which tools look for project files: the canonical working directory and its ancestors.
fn ancestor_folders(directory: &Path) -> Vec<PathBuf> {
    let real = directory.canonicalize().unwrap_or_else(|_| directory.to_owned());
    real.ancestors().take(MAX_SEARCHED_ANCESTORS).map(Path::to_owned).collect()
}

/// Returns the folders in which relative paths and modules are looked up: the working directory, and the folders that
/// variables and arguments name.
fn base_folders(command: &CommandLine<'_>) -> Vec<PathBuf> {
    let directory = &command.directory;
    let mut bases = vec![directory.clone()];
    let of_variables = command
        .environment
        .iter()
        .filter(|(name, _)| MODULE_FOLDER_VARIABLES.contains(&name.as_str()))
        .map(|(_, value)| value);
    let texts = of_variables.chain(command.arguments).take(MAX_EXAMINED_WORDS);
    let paths = texts.flat_map(|text| paths_in_text(text, command.environment)).take(MAX_PATH_LOOKUPS);
    for folder in paths.map(|path| directory.join(path)) {
        if bases.len() < MAX_BASE_FOLDERS && folder.is_dir() && !bases.contains(&folder) {
            bases.push(folder);
        }
    }
    bases
}

struct ScriptSearch<'c> {
    command: &'c CommandLine<'c>,
    path: SearchPath,
    bases: Vec<PathBuf>,
    /// The canonical working directory and its ancestors, in which project files are looked up.
    ancestors: Vec<PathBuf>,
    found: Vec<FoundLaunchFile>,
    folders: Vec<PathBuf>,
    /// Role that is recorded for the files found next. It depends on whether an argument or an environment variable is
    /// being examined.
    role: LaunchFileRole,
    /// Remaining number of words that may be examined.
    remaining_words: usize,
    /// Remaining number of paths that may be looked up.
    remaining_lookups: usize,
}

impl ScriptSearch<'_> {
    /// Examines the arguments of a program for paths of code files, and records the files. `depth` is the number of
    /// command lines that may still be nested in these arguments.
    fn search_arguments(&mut self, mut runner: ArgumentHandling, words: &[String], depth: usize) {
        let mut before = "";
        for word in words {
            let Some(left) = self.remaining_words.checked_sub(1) else { return };
            self.remaining_words = left;
            self.record_code_files(word);
            if word.contains(char::is_whitespace)
                && let Some(depth) = depth.checked_sub(1)
            {
                for command in parse_shell_commands(word) {
                    // The arguments of an unknown program are more often text than commands.
                    let is_command = command
                        .first()
                        .is_some_and(|first| ArgumentHandling::for_program(first) != ArgumentHandling::Other);
                    if runner != ArgumentHandling::Other || is_command {
                        self.search_arguments(ArgumentHandling::Wrapper, &command, depth);
                    }
                }
            }
            runner = self.search_word(runner, before, word);
            before = word;
        }
    }

    /// Examines one word of a command line for paths of code files, and records the files. Returns how the next word
    /// must be treated.
    fn search_word(&mut self, runner: ArgumentHandling, before: &str, word: &str) -> ArgumentHandling {
        if runner != ArgumentHandling::Other
            && let Some(module) = module_named_by_word(before, word)
        {
            self.record_module_files(module);
        }
        if let Some((_, value)) = option_and_value(word).filter(|(option, _)| runner.is_code_option(option)) {
            self.record_files_run_for_paths(value);
        } else if runner.is_code_option(before) {
            self.record_files_run_for_paths(word);
        }
        if word.starts_with('-') {
            return runner.argument_handling_after_option(word);
        }
        match runner {
            ArgumentHandling::Wrapper => self.search_wrapped_program(word),
            ArgumentHandling::Project => {
                self.argument_handling_of_program(word);
                runner
            }
            ArgumentHandling::Python if is_module_option(before) => ArgumentHandling::Other,
            runner if runner.runs_script() => {
                self.record_module_files(word);
                // If no file has this name, the word is a value of the previous option, or a subcommand.
                let runs = self.record_files_run_for_paths(word) || has_code_name(Path::new(word));
                if runs && !takes_value_that_is_not_code(before) { ArgumentHandling::Other } else { runner }
            }
            runner => runner,
        }
    }

    fn record_files(&mut self, files: impl IntoIterator<Item = PathBuf>) {
        let role = self.role;
        self.found.extend(files.into_iter().map(|file| (file, role)));
    }

    /// Returns how a program uses its arguments. Also records its project files, and the package folders from which it
    /// may load code.
    fn argument_handling_of_program(&mut self, program: &str) -> ArgumentHandling {
        for file in project_file_names(program) {
            let above = self.ancestors.iter().filter(|_| searches_ancestors_for_project_files(program));
            let files: Vec<PathBuf> = self.bases.iter().chain(above).map(|base| base.join(file)).collect();
            self.record_files(files.into_iter().filter(|file| file.is_file()));
        }
        if uses_node_modules(program) {
            let folders =
                self.ancestors.iter().map(|folder| folder.join(NODE_MODULES_FOLDER)).filter(|folder| folder.exists());
            self.folders.extend(folders);
            self.folders.sort_unstable();
            self.folders.dedup();
        }
        ArgumentHandling::for_program(program)
    }

    /// Examines a word after a wrapper such as `env`: the word may name the program to run, or set the `PATH` for it.
    fn search_wrapped_program(&mut self, word: &str) -> ArgumentHandling {
        if let Some(folders) = word.strip_prefix("PATH=") {
            let directory = &self.command.directory;
            let folders = self.paths_within_limit(folders).into_iter().map(|folder| directory.join(folder));
            let mut folders: Vec<PathBuf> = folders.filter(|folder| folder.is_dir()).collect();
            folders.append(&mut self.path.directories);
            self.path.directories = folders;
        }
        let file = self.path.find(word, &self.command.directory).ok().filter(|file| file.is_file());
        let is_of_system = |file: &PathBuf| file.canonicalize().is_ok_and(|real| is_in_system_folder(&real));
        if let Some(file) = file.filter(|file| !is_of_system(file)) {
            self.record_files([file.clone()]);
            collect_interpreters(&file, &self.path, &mut self.found);
            self.found.extend(python_environment(&file));
        }
        match self.argument_handling_of_program(word) {
            ArgumentHandling::Other => ArgumentHandling::Wrapper,
            runner => runner,
        }
    }

    /// Returns the possible paths in a text, and deducts them from the number of paths that may still be looked up.
    /// Further paths are omitted.
    fn paths_within_limit(&mut self, text: &str) -> Vec<PathBuf> {
        let mut paths = paths_in_text(text, self.command.environment);
        paths.truncate(self.remaining_lookups);
        self.remaining_lookups -= paths.len();
        paths
    }

    /// Records the files that an interpreter runs for the paths in a text, whatever their names are. Returns `true` if
    /// there are any.
    fn record_files_run_for_paths(&mut self, text: &str) -> bool {
        let before = self.found.len();
        for path in self.paths_within_limit(text) {
            let files: Vec<PathBuf> =
                self.bases.iter().flat_map(|base| files_run_for_path(&base.join(&path))).collect();
            self.record_files(files);
        }
        self.found.len() > before
    }

    /// Records the code files that occur anywhere in a text.
    fn record_code_files(&mut self, text: &str) {
        for path in self.paths_within_limit(text) {
            let files = self.bases.iter().map(|base| base.join(&path));
            let files: Vec<PathBuf> = files.filter(|file| file.is_file() && is_code_file(file)).collect();
            self.record_files(files);
        }
    }

    /// Records the files of a module, looked up in all base folders.
    fn record_module_files(&mut self, module: &str) {
        let files: Vec<PathBuf> = self.bases.iter().flat_map(|base| module_files(base, module)).collect();
        self.record_files(files);
    }

    /// Returns the folders that a variable names, if some of their files run without being named: libraries, modules or
    /// start-up files.
    fn code_folders_named_by_variable(&mut self, name: &str, value: &str) -> Vec<PathBuf> {
        if !LIBRARY_FOLDER_VARIABLES.contains(&name) && !matches!(name, "HOME" | "PYTHONUSERBASE" | "ZDOTDIR") {
            return Vec::new();
        }
        let directory = &self.command.directory;
        self.paths_within_limit(value)
            .into_iter()
            .map(|path| directory.join(path))
            .filter(|folder| folder.is_dir())
            .collect()
    }

    /// Examines an environment variable for paths of code files, and records the files.
    fn search_variable(&mut self, name: &str, value: &str) {
        let Some(left) = self.remaining_words.checked_sub(1) else { return };
        self.remaining_words = left;
        self.record_code_files(value);
        if PRELOAD_FILE_VARIABLES.contains(&name) {
            self.record_files_run_for_paths(value);
        }
        if name == "PYTHONPATH" {
            PYTHON_SITE_MODULES.into_iter().for_each(|module| self.record_module_files(module));
        }
        for folder in self.code_folders_named_by_variable(name, value) {
            let files = match name {
                "HOME" | "ZDOTDIR" => START_UP_FILES_IN_HOME.map(|file| folder.join(file)).into(),
                "PYTHONUSERBASE" => {
                    let packages = python_user_packages(&folder);
                    packages
                        .iter()
                        .flat_map(|packages| PYTHON_SITE_MODULES.map(|site| packages.join(format!("{site}.py"))))
                        .collect()
                }
                _ => shared_libraries_in_folder(&folder),
            };
            self.record_files(files.into_iter().filter(|file| file.is_file()));
        }
        if INTERPRETER_OPTION_VARIABLES.contains(&name) {
            for command in parse_shell_commands(value) {
                self.search_arguments(ArgumentHandling::Interpreter, &command, 0);
            }
        }
    }
}

#[cfg(all(test, unix))]
#[path = "script_files_tests.rs"]
mod tests;
