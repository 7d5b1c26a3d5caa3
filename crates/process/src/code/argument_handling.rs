//! Classifies programs by how they use their command-line arguments, and finds the arguments that name files to run.
//! The caller is `script_files.rs`.

use std::path::Path;

/// Programs that run their first non-option argument as code, whatever its name is.
const PROGRAMS_THAT_RUN_SCRIPTS: [&str; 44] = [
    ".",
    "awk",
    "babashka",
    "bb",
    "bun",
    "clojure",
    "dart",
    "deno",
    "dotnet",
    "elixir",
    "escript",
    "expect",
    "gawk",
    "go",
    "groovy",
    "guile",
    "java",
    "jbang",
    "julia",
    "kotlin",
    "lua",
    "luajit",
    "mawk",
    "nawk",
    "node",
    "nodejs",
    "nu",
    "osascript",
    "perl",
    "php",
    "pwsh",
    "racket",
    "raku",
    "rscript",
    "ruby",
    "runghc",
    "rust-script",
    "scala",
    "source",
    "swift",
    "tclsh",
    "ts-node",
    "tsx",
    "wish",
];
const PYTHON_NAMES: [&str; 3] = ["py", "pypy", "python"];
const COMMAND_SHELLS: [&str; 7] = ["ash", "bash", "dash", "fish", "ksh", "sh", "zsh"];
/// Programs that run another program, which their arguments name, such as `env` and `sudo`.
const WRAPPER_PROGRAMS: [&str; 53] = [
    "arch",
    "asdf",
    "bunx",
    "busybox",
    "caffeinate",
    "chrt",
    "cmd",
    "command",
    "conda",
    "corepack",
    "dbus-run-session",
    "direnv",
    "doas",
    "dotenv",
    "env",
    "exec",
    "firejail",
    "hatch",
    "ionice",
    "mamba",
    "mcp-proxy",
    "micromamba",
    "mise",
    "nice",
    "nix-shell",
    "nohup",
    "npm",
    "npx",
    "pdm",
    "pipenv",
    "pipx",
    "pixi",
    "pnpm",
    "poetry",
    "rye",
    "script",
    "setsid",
    "start",
    "stdbuf",
    "strace",
    "sudo",
    "supergateway",
    "systemd-run",
    "taskset",
    "time",
    "timeout",
    "unshare",
    "uv",
    "uvx",
    "xargs",
    "xvfb-run",
    "yarn",
    "prlimit",
];
/// Programs that run code from project files, each with the names of these files.
const TOOLS_THAT_RUN_PROJECT_FILES: [(&[&str], &[&str]); 10] = [
    (&["npm", "npx", "pnpm", "pnpx", "yarn", "corepack"], &["package.json", ".npmrc", ".yarnrc.yml", ".pnpmfile.cjs"]),
    (&["bun", "bunx"], &["package.json", "bunfig.toml"]),
    (&["deno"], &["deno.json", "deno.jsonc", "package.json"]),
    (&["hatch", "pdm", "pipenv", "poetry", "rye", "uv"], &["pyproject.toml", "uv.toml", "Pipfile"]),
    (&["gmake", "make"], &["GNUmakefile", "Makefile", "makefile"]),
    (&["just"], &["justfile", "Justfile", ".justfile"]),
    (&["mise"], &["mise.toml", ".mise.toml"]),
    (
        &["compose", "docker-compose", "podman-compose"],
        &["compose.yaml", "compose.yml", "docker-compose.yaml", "docker-compose.yml", "compose.override.yaml"],
    ),
    (
        &["dnx", "dotnet"],
        &[
            "NuGet.Config",
            "NuGet.config",
            "nuget.config",
            "global.json",
            ".config/dotnet-tools.json",
            "dotnet-tools.json",
        ],
    ),
    (&["cargo"], &["Cargo.toml", "build.rs", ".cargo/config.toml", "rust-toolchain.toml"]),
];
/// Those programs of [`TOOLS_THAT_RUN_PROJECT_FILES`] that look for their project files only in the working directory
/// and not in its ancestors.
const PROJECT_TOOLS_WITHOUT_ANCESTOR_SEARCH: [&str; 2] = ["gmake", "make"];
/// Programs that load programs and packages from [`NODE_MODULES_FOLDER`] in ancestor folders.
const PROGRAMS_USING_NODE_MODULES: [&str; 8] = ["bun", "bunx", "corepack", "npm", "npx", "pnpm", "pnpx", "yarn"];
/// Name of the folder with the installed packages of a project. When npm resolves a command, programs in this folder
/// take precedence.
pub(super) const NODE_MODULES_FOLDER: &str = "node_modules";
/// Container engines. Of their arguments, only the values of [`PROJECT_FILE_OPTIONS`] name files that decide what runs
/// on this computer.
const CONTAINER_ENGINES: [&str; 3] = ["docker", "nerdctl", "podman"];

/// Options of interpreters whose value is a file or module that runs before the script.
const PRELOAD_OPTIONS: [&str; 10] = [
    "--env-file",
    "--experimental-loader",
    "--import",
    "--init-file",
    "--loader",
    "--preload",
    "--rcfile",
    "--require",
    "--script",
    "-r",
];
/// Options of project tools whose value is the folder of the project.
const PROJECT_FOLDER_OPTIONS: [&str; 7] =
    ["--cwd", "--dir", "--directory", "--prefix", "--project", "--project-directory", "-C"];
/// Options of project tools whose value is the path of the project file.
const PROJECT_FILE_OPTIONS: [&str; 5] = ["--file", "--justfile", "--makefile", "--manifest-path", "-f"];
/// Options whose value does not name code to run.
const OPTIONS_WITHOUT_CODE_IN_VALUE: [&str; 8] =
    ["--class-path", "--conditions", "--module-path", "--title", "-W", "-X", "-classpath", "-cp"];
/// Short options of Python without a value, which may precede `-m` or `-c` in one word.
const PYTHON_FLAGS_WITHOUT_VALUE: [char; 16] =
    ['b', 'B', 'd', 'E', 'h', 'i', 'I', 'O', 'P', 'q', 's', 'S', 'u', 'v', 'V', 'x'];

/// Returns `true` if `name`, a program's name without folder and extension, is that of a container engine.
#[must_use]
pub fn is_container_engine(name: &str) -> bool {
    CONTAINER_ENGINES.contains(&name)
}

/// Classification of programs by the way in which they use their command-line arguments.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ArgumentHandling {
    /// The program runs another program, which the arguments name.
    Wrapper,
    /// The program runs the commands that project files define.
    Project,
    /// The program runs a script, or the code after `-c`.
    Shell,
    /// The program runs a script or a Python module.
    Python,
    /// The program runs a script or a file with code.
    Interpreter,
    /// The program treats its arguments as data, as far as is known.
    Other,
}

impl ArgumentHandling {
    /// Classifies a program by its file name.
    pub(super) fn for_program(program: &str) -> ArgumentHandling {
        let name = program_name(program);
        match name.as_str() {
            name if COMMAND_SHELLS.contains(&name) => ArgumentHandling::Shell,
            name if PYTHON_NAMES.contains(&name) => ArgumentHandling::Python,
            name if PROGRAMS_THAT_RUN_SCRIPTS.contains(&name) => ArgumentHandling::Interpreter,
            name if WRAPPER_PROGRAMS.contains(&name) => ArgumentHandling::Wrapper,
            name if is_container_engine(name) || project_file_names(name).next().is_some() => ArgumentHandling::Project,
            _ => ArgumentHandling::Other,
        }
    }

    /// Returns `true` if a program of this class runs its first non-option argument as a script.
    pub(super) const fn runs_script(self) -> bool {
        matches!(self, ArgumentHandling::Shell | ArgumentHandling::Python | ArgumentHandling::Interpreter)
    }

    /// Returns how the words after this option on the command line must be treated.
    pub(super) fn argument_handling_after_option(self, option: &str) -> ArgumentHandling {
        let is_code = option.starts_with('-') && !option.starts_with("--") && option.ends_with('c');
        match self {
            ArgumentHandling::Shell if is_code => ArgumentHandling::Wrapper,
            // After `-m` alone, the next word is the name of the module.
            ArgumentHandling::Python
                if option_after_combined_flags(option)
                    .is_some_and(|rest| rest.starts_with(['c', 'm']) && rest != "m") =>
            {
                ArgumentHandling::Other
            }
            runner => runner,
        }
    }

    /// Returns `true` if this option is followed by code to run: in the next word, or in the same word as its value.
    pub(super) fn is_code_option(self, option: &str) -> bool {
        match self {
            ArgumentHandling::Other => false,
            ArgumentHandling::Wrapper => PRELOAD_OPTIONS.contains(&option) || PROJECT_FOLDER_OPTIONS.contains(&option),
            ArgumentHandling::Project => {
                // A combination of short options, such as `-sf`, ends with the one that takes a value.
                let is_last =
                    option.strip_prefix('-').is_some_and(|rest| !rest.starts_with('-') && rest.ends_with('f'));
                is_last || PROJECT_FILE_OPTIONS.contains(&option) || PROJECT_FOLDER_OPTIONS.contains(&option)
            }
            ArgumentHandling::Interpreter => {
                PRELOAD_OPTIONS.contains(&option) || PROJECT_FOLDER_OPTIONS.contains(&option)
            }
            ArgumentHandling::Shell | ArgumentHandling::Python => PRELOAD_OPTIONS.contains(&option),
        }
    }
}

/// Returns the name of a program in lower case without its folder, version and extension: `python` for
/// `/usr/bin/python3.12`.
fn program_name(program: &str) -> String {
    let name = Path::new(program).file_name().map(|name| name.to_string_lossy().to_lowercase()).unwrap_or_default();
    let ending = [".exe", ".cmd", ".bat", ".ps1"].into_iter().find_map(|ending| name.strip_suffix(ending));
    let name = ending.unwrap_or(&name);
    let bare = name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
    if bare.is_empty() { program.to_owned() } else { bare.to_owned() }
}

/// Returns the names of the project files that define what this program runs.
pub(super) fn project_file_names(program: &str) -> impl Iterator<Item = &'static str> {
    let name = program_name(program);
    TOOLS_THAT_RUN_PROJECT_FILES
        .iter()
        .filter(move |(programs, _)| programs.contains(&name.as_str()))
        .flat_map(|(_, files)| *files)
        .copied()
}

/// Returns `true` if the program also searches ancestor folders for its project files.
pub(super) fn searches_ancestors_for_project_files(program: &str) -> bool {
    !PROJECT_TOOLS_WITHOUT_ANCESTOR_SEARCH.contains(&program_name(program).as_str())
}

/// Returns `true` if a program loads code from [`NODE_MODULES_FOLDER`] in ancestor folders.
pub(super) fn uses_node_modules(program: &str) -> bool {
    PROGRAMS_USING_NODE_MODULES.contains(&program_name(program).as_str())
}

/// Returns `true` if this command-line option is followed by its value, which is not the code to run.
pub(super) fn takes_value_that_is_not_code(option: &str) -> bool {
    OPTIONS_WITHOUT_CODE_IN_VALUE.contains(&option) || PRELOAD_OPTIONS.contains(&option)
}

/// Returns the part of a combined option after the leading flags: `m` of `-Im`.
fn option_after_combined_flags(option: &str) -> Option<&str> {
    Some(option.strip_prefix('-')?.trim_start_matches(PYTHON_FLAGS_WITHOUT_VALUE))
}

/// Returns the module that a word names. Depends on the previous word: `-m pkg`, `-mpkg`, `-MPkg=list`, `-rlib`.
pub(super) fn module_named_by_word<'w>(before: &str, word: &'w str) -> Option<&'w str> {
    if matches!(option_after_combined_flags(before), Some("m" | "M" | "r")) || PRELOAD_OPTIONS.contains(&before) {
        return Some(word);
    }
    let module = option_after_combined_flags(word)?.strip_prefix(['m', 'M', 'r'])?;
    module.split('=').next().filter(|module| !module.is_empty())
}

/// Returns `true` if this command-line option is followed by a module that runs instead of a script.
pub(super) fn is_module_option(option: &str) -> bool {
    option_after_combined_flags(option) == Some("m")
}

/// Splits an option with a value: `--require` and `hook.js` for `--require=hook.js`.
pub(super) fn option_and_value(word: &str) -> Option<(&str, &str)> {
    word.split_once('=').filter(|_| word.starts_with('-'))
}

/// Returns the commands in a piece of shell code, each as a list of words. If quotes are unbalanced, words are
/// separated at blanks.
pub(super) fn parse_shell_commands(code: &str) -> Vec<Vec<String>> {
    let code = code.trim_start_matches("--split-string=").trim_start_matches("-S");
    // Operators are surrounded with blanks to separate them from words. This also happens within quotes, which is
    // harmless: the caller looks for paths in the unsplit text as well.
    let mut spaced = String::with_capacity(code.len());
    for c in code.chars() {
        match c {
            ';' | '&' | '|' | '(' | ')' | '\n' => spaced.extend([' ', if c == '\n' { ';' } else { c }, ' ']),
            _ => spaced.push(c),
        }
    }
    let words = shell_words::split(&spaced)
        .unwrap_or_else(|_| spaced.split_whitespace().map(|word| word.trim_matches(['\'', '"']).to_owned()).collect());
    let is_operator = |word: &String| matches!(word.as_str(), ";" | "&" | "|" | "(" | ")");
    words.split(is_operator).filter(|words| !words.is_empty()).map(<[String]>::to_vec).collect()
}
