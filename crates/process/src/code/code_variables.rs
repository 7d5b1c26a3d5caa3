//! Environment variables that decide which code a command runs. `script_files.rs` looks up the files that their values
//! name. The host compares the variables of two servers to find out if both run the same code.

/// Environment variables that name files which run before the program's own code.
pub(super) const PRELOAD_FILE_VARIABLES: [&str; 10] = [
    "BASH_ENV",
    "COMPOSE_FILE",
    "DYLD_INSERT_LIBRARIES",
    "ENV",
    "LD_AUDIT",
    "LD_PRELOAD",
    "MAKEFILES",
    "PYTHONSTARTUP",
    "ZDOTDIR",
    "NPM_CONFIG_USERCONFIG",
];
/// Environment variables that contain command-line options of an interpreter.
pub(super) const INTERPRETER_OPTION_VARIABLES: [&str; 7] =
    ["BUN_OPTIONS", "JAVA_TOOL_OPTIONS", "JDK_JAVA_OPTIONS", "NODE_OPTIONS", "PERL5OPT", "RUBYOPT", "_JAVA_OPTIONS"];
/// Environment variables with folders from which modules are loaded.
pub(super) const MODULE_FOLDER_VARIABLES: [&str; 8] =
    ["CLASSPATH", "JULIA_LOAD_PATH", "NODE_PATH", "PERL5LIB", "PERLLIB", "PYTHONHOME", "PYTHONPATH", "RUBYLIB"];
/// Variables with folders that shared libraries are loaded from.
pub(super) const LIBRARY_FOLDER_VARIABLES: [&str; 3] =
    ["DYLD_FALLBACK_LIBRARY_PATH", "DYLD_LIBRARY_PATH", "LD_LIBRARY_PATH"];
/// Files of a home folder that shells, npm and Python's REPL execute or read, for a command whose `HOME` is not the
/// user's home.
pub(super) const START_UP_FILES_IN_HOME: [&str; 9] =
    [".bash_login", ".bash_profile", ".bashrc", ".npmrc", ".profile", ".zlogin", ".zprofile", ".zshenv", ".zshrc"];
/// Modules that Python runs at each start if it finds them.
pub(super) const PYTHON_SITE_MODULES: [&str; 2] = ["sitecustomize", "usercustomize"];

/// Prefixes of environment variables that configure package managers, in lower case.
const PACKAGE_MANAGER_PREFIXES: [&str; 10] =
    ["bun_", "cargo_", "deno_", "dotnet_", "npm_config_", "nuget_", "pip_", "pnpm_", "uv_", "yarn_"];
/// Other environment variables that decide where programs and modules are loaded from or, for container engines, which
/// engine, plugins and settings are used.
const CODE_LOCATION_VARIABLES: [&str; 15] = [
    "CONTAINERS_CONF",
    "CONTAINER_CONNECTION",
    "CONTAINER_HOST",
    "DOCKER_CONFIG",
    "DOCKER_CONTEXT",
    "DOCKER_HOST",
    "GIT_SSH_COMMAND",
    "HOME",
    "JAVA_HOME",
    "PATH",
    "PYTHONUSERBASE",
    "USERPROFILE",
    "VIRTUAL_ENV",
    "XDG_CONFIG_HOME",
    "XDG_DATA_HOME",
];

/// Returns `true` if an environment variable decides which code runs, so that another value may lead to other code.
pub fn is_code_variable(name: &str) -> bool {
    let lists: [&[&str]; 5] = [
        &PRELOAD_FILE_VARIABLES,
        &INTERPRETER_OPTION_VARIABLES,
        &MODULE_FOLDER_VARIABLES,
        &LIBRARY_FOLDER_VARIABLES,
        &CODE_LOCATION_VARIABLES,
    ];
    let lower = name.to_ascii_lowercase();
    lists.into_iter().flatten().any(|known| known.eq_ignore_ascii_case(name))
        || PACKAGE_MANAGER_PREFIXES.iter().any(|prefix| lower.starts_with(prefix))
}

#[cfg(test)]
mod tests {
    use super::is_code_variable;

    #[test]
    fn container_engine_variables_lead_to_code() {
        let engines = ["DOCKER_HOST", "DOCKER_CONTEXT", "DOCKER_CONFIG", "CONTAINER_HOST", "CONTAINER_CONNECTION"];
        assert!(engines.into_iter().all(is_code_variable));
        assert!(is_code_variable("docker_host"), "on Windows names differ by their letters' case only");
        assert!(!["DOCKER_HOST_NAME", "CONTAINER_NAME", "HOST"].into_iter().any(is_code_variable));
    }
}
