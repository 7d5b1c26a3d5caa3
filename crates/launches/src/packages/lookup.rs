//! Looks up the version and hash of the package that a launcher would load, by running its package manager. Used for
//! starts in `host`.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use foreign::escape_invisible;
use process::sandbox::NetworkAccess;
use process::{OutputError, OutputLimits, ProgramOutput, SearchPath, ServerCommand, run_and_capture};
use tokio::sync::Semaphore;
use tokio::time::Instant;

use super::project::find_registry_settings_file;
use super::reference::Launcher;
use super::{PackageReference, PackageVersion, UnknownPackage, container, npm, nuget, python};

/// Maximum duration of a lookup of a package's version, including the start of the package manager.
const PACKAGE_LOOKUP_TIMEOUT: Duration = Duration::from_secs(15);
/// Maximum size of a package manager's output, in bytes. The output for a range that matches a thousand versions is 400
/// KB.
const MAX_LOOKUP_OUTPUT_BYTES: usize = 1024 * 1024;
/// Maximum number of concurrent lookups of package versions. Others wait until one has finished.
const MAX_CONCURRENT_LOOKUPS: usize = 4;
/// Maximum length of an error message of a package manager, in characters.
const MAX_LOOKUP_ERROR_CHARS: usize = 300;

static LOOKUP_SLOTS: Semaphore = Semaphore::const_new(MAX_CONCURRENT_LOOKUPS);

/// Names, in lower case, of a server's environment variables that are passed to the package manager that looks up its
/// package. Registries in their values must use HTTPS.
const ENV_VARIABLES_PASSED_TO_PACKAGE_LOOKUP: &[&str] = &[
    "npm_config_registry",
    "uv_index",
    "uv_default_index",
    "uv_index_url",
    "uv_extra_index_url",
    "uv_exclude_newer",
    "uv_native_tls",
    "uv_system_certs",
    "uv_offline",
];
/// Names of environment variables that decide which certificates and proxies a package manager uses. If the server sets
/// one, no lookup is made: the package manager may send the user's registry credentials, and the server's settings are
/// not approved yet.
const CERTIFICATE_AND_PROXY_VARIABLES: &[&str] =
    &["http_proxy", "https_proxy", "all_proxy", "no_proxy", "ssl_cert_file", "ssl_cert_dir", "node_extra_ca_certs"];
/// Names, in lower case, of a server's environment variables that don't affect which version is loaded. Lookups ignore
/// them.
const ENV_VARIABLES_IGNORED_BY_PACKAGE_LOOKUP: &[&str] = &[
    "npm_config_cache",
    "npm_config_loglevel",
    "npm_config_update_notifier",
    "npm_config_yes",
    "uv_cache_dir",
    "uv_link_mode",
    "uv_no_progress",
    "uv_python",
];
/// Names of environment variables that select other settings of the package manager, or folders with settings. If the
/// server sets one, no lookup is made before the server is approved.
const PACKAGE_MANAGER_SETTINGS_VARIABLES: &[&str] =
    &["home", "userprofile", "appdata", "xdg_config_home", "xdg_data_home"];

/// A package manager that may be run before the server is approved.
struct PackageManager<'a> {
    name: &'static str,
    program: PathBuf,
    command: ServerCommand,
    path: &'a SearchPath,
    deadline: Instant,
}

/// Looks up the version of a package that the launcher `program` would load for a server.
///
/// # Errors
///
/// Returns [`UnknownPackage`] if the version can't be determined, or if the package manager exceeds its limits of
/// time (15 seconds) or output (1 MiB).
pub async fn look_up_version(
    reference: &PackageReference,
    server: &ServerCommand,
    program: &Path,
    path: &SearchPath,
) -> Result<PackageVersion, UnknownPackage> {
    let known = match reference.launcher {
        Launcher::Docker | Launcher::Podman => container::version_from_image_digest(reference),
        Launcher::Dnx => nuget::version_if_exact(reference),
        Launcher::Npx | Launcher::NpmExec | Launcher::Uvx | Launcher::UvToolRun => None,
    };
    if let Some(known) = known {
        return Ok(known);
    }
    let environment = lookup_environment(reference.launcher, &server.environment)?;
    if server.sandbox.as_ref().is_some_and(|sandbox| sandbox.network == NetworkAccess::None) {
        return Err(UnknownPackage::NoNetwork);
    }
    let (name, program) = find_package_manager(reference.launcher, program, path)?;
    if let Some(open) = reference.options.iter().find(|option| contains_unencrypted_url(option)) {
        return Err(UnknownPackage::Option(open.clone()));
    }
    if let Some(settings) = find_registry_settings_file(reference.launcher, &server.directory()) {
        return Err(UnknownPackage::ProjectSettings(settings.display().to_string()));
    }
    let command = ServerCommand {
        program: program.display().to_string(),
        environment,
        sandbox: server.sandbox.clone(),
        ..ServerCommand::default()
    };
    let Ok(_turn) = LOOKUP_SLOTS.acquire().await else { return Err(UnknownPackage::NoClient(name.to_owned())) };
    let client = PackageManager { name, program, command, path, deadline: Instant::now() + PACKAGE_LOOKUP_TIMEOUT };
    match reference.launcher {
        Launcher::Npx | Launcher::NpmExec => {
            client
                .run_lookup(
                    npm::lookup_arguments(reference),
                    &[],
                    |text| npm::parse_lookup_output(reference, text),
                    npm::npm_error_message,
                )
                .await
        }
        Launcher::Uvx | Launcher::UvToolRun => {
            let (lookup_arguments, input) = python::lookup_arguments(reference);
            client
                .run_lookup(lookup_arguments, &input, |text| python::parse_lookup_output(reference, text), |_| None)
                .await
        }
        Launcher::Docker | Launcher::Podman => {
            let local = container::local_image_lookup_arguments(reference);
            let here = client
                .run_lookup(local, &[], |text| container::parse_local_lookup_output(reference, text), |_| None)
                .await;
            if here.is_ok() || reference.launcher == Launcher::Podman {
                return here;
            }
            let lookup_arguments = container::lookup_arguments(reference);
            client
                .run_lookup(lookup_arguments, &[], |text| container::parse_lookup_output(reference, text), |_| None)
                .await
        }
        Launcher::Dnx => {
            client
                .run_lookup(
                    nuget::lookup_arguments(reference),
                    &[],
                    |text| nuget::parse_lookup_output(reference, text),
                    |_| None,
                )
                .await
        }
    }
}

/// Returns `true` if a command-line option contains a URL with a scheme other than HTTPS.
fn contains_unencrypted_url(option: &str) -> bool {
    option
        .to_ascii_lowercase()
        .split("://")
        .zip(option.split("://").skip(1))
        .any(|(scheme, _)| !scheme.ends_with("https"))
}

/// Returns those environment variables of the server that are passed to the package manager that looks up its package.
fn lookup_environment(
    launcher: Launcher,
    own: &BTreeMap<String, String>,
) -> Result<BTreeMap<String, String>, UnknownPackage> {
    let settings: &[&str] = match launcher {
        Launcher::Npx | Launcher::NpmExec => &["npm_config_"],
        Launcher::Uvx | Launcher::UvToolRun => &["uv_"],
        Launcher::Docker => &["docker_", "buildx_"],
        Launcher::Podman => &["containers_", "podman_", "registry_"],
        Launcher::Dnx => &["nuget_", "dotnet_"],
    };
    let mut passed = BTreeMap::new();
    for (name, value) in own {
        let lower = name.to_ascii_lowercase();
        if ENV_VARIABLES_PASSED_TO_PACKAGE_LOOKUP.contains(&lower.as_str()) {
            // A variable with a secret is not passed, because the server is not approved yet.
            let is_registry = lower.contains("registry") || lower.contains("index");
            let is_open =
                |address: &str| !address.rsplit_once('=').map_or(address, |(_, url)| url).starts_with("https://");
            if value.contains("${secret:") || is_registry && value.split_whitespace().any(is_open) {
                return Err(UnknownPackage::Variable(name.clone()));
            }
            passed.insert(name.clone(), value.clone());
        } else if PACKAGE_MANAGER_SETTINGS_VARIABLES.contains(&lower.as_str())
            || CERTIFICATE_AND_PROXY_VARIABLES.contains(&lower.as_str())
            || settings.iter().any(|prefix| lower.starts_with(prefix))
                && !ENV_VARIABLES_IGNORED_BY_PACKAGE_LOOKUP.contains(&lower.as_str())
        {
            return Err(UnknownPackage::Variable(name.clone()));
        }
    }
    Ok(passed)
}

/// Returns the package manager that looks up packages for a launcher. It must be in a folder of the search path: the
/// command may name a program in any other folder, and is not approved yet.
fn find_package_manager(
    launcher: Launcher,
    program: &Path,
    path: &SearchPath,
) -> Result<(&'static str, PathBuf), UnknownPackage> {
    let name = launcher.lookup_program();
    let folder = program.parent().filter(|folder| path.directories.iter().any(|known| known == folder));
    let folder = folder.ok_or_else(|| UnknownPackage::OffSearchPath(program.display().to_string()))?;
    let endings: &[&str] = if cfg!(windows) { &[".exe", ".cmd"] } else { &[""] };
    let beside = endings.iter().map(|ending| folder.join(format!("{name}{ending}"))).find(|file| file.is_file());
    let found = beside.or_else(|| {
        let command = ServerCommand { program: name.to_owned(), ..ServerCommand::default() };
        path.resolve(&command).ok()
    });
    Ok((name, found.ok_or_else(|| UnknownPackage::NoClient(name.to_owned()))?))
}

impl PackageManager<'_> {
    async fn run_lookup(
        &self,
        lookup_arguments: Vec<String>,
        input: &[u8],
        answer: impl Fn(&str) -> Option<PackageVersion>,
        failure: impl Fn(&str) -> Option<String>,
    ) -> Result<PackageVersion, UnknownPackage> {
        let time = self.deadline.saturating_duration_since(Instant::now());
        let limits = OutputLimits { time, bytes: MAX_LOOKUP_OUTPUT_BYTES };
        let command = ServerCommand { arguments: lookup_arguments, ..self.command.clone() };
        let failed = |cause: String| UnknownPackage::Failed { client: self.name.to_owned(), cause };
        let ProgramOutput { exit, stdout, stderr } =
            match run_and_capture(&command, &self.program, self.path, input, limits).await {
                Ok(output) => output,
                Err(OutputError::TimedOut(_)) => {
                    return Err(UnknownPackage::TimedOut {
                        client: self.name.to_owned(),
                        seconds: PACKAGE_LOOKUP_TIMEOUT.as_secs(),
                    });
                }
                Err(error) => return Err(failed(error.to_string())),
            };
        let stdout = String::from_utf8_lossy(&stdout);
        if exit.status == Some(0) {
            return answer(&stdout).ok_or_else(|| failed("its answer could not be read".to_owned()));
        }
        let stderr = String::from_utf8_lossy(&stderr);
        let words = failure(&stdout).or_else(|| find_error_line(&stderr).map(str::to_owned));
        let words = words.unwrap_or_else(|| match exit.status {
            Some(status) => format!("it ended with status {status}"),
            None => "it was ended by a signal".to_owned(),
        });
        Err(failed(escape_invisible(&words).chars().take(MAX_LOOKUP_ERROR_CHARS).collect()))
    }
}

/// Returns the line of standard error that explains a failed lookup: the first line that begins with "error", or else
/// the first line.
fn find_error_line(stderr: &str) -> Option<&str> {
    let lines = || stderr.lines().map(str::trim).filter(|line| !line.is_empty());
    let is_error = |line: &&str| line.get(..5).is_some_and(|begins| begins.eq_ignore_ascii_case("error"));
    lines().find(is_error).or_else(|| lines().next())
}

#[cfg(test)]
mod tests {
    use process::SearchPathSource;

    use super::*;

    fn environment_variable_map(all: &[(&str, &str)]) -> BTreeMap<String, String> {
        all.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
    }

    #[test]
    fn s25_lookup_does_not_use_addresses_named_by_a_server() {
        for (name, value) in [
            ("HTTPS_PROXY", "http://evil.test:8080"),
            ("NODE_EXTRA_CA_CERTS", "/tmp/evil.pem"),
            ("npm_config_cafile", "/tmp/evil.pem"),
            ("npm_config_registry", "http://registry.npmjs.org/"),
            ("UV_INDEX", "own=http://pypi.test/simple"),
        ] {
            let launcher = if name.starts_with("UV") { Launcher::Uvx } else { Launcher::Npx };
            let refused = lookup_environment(launcher, &environment_variable_map(&[(name, value)]));
            assert!(matches!(refused, Err(UnknownPackage::Variable(variable)) if variable == name), "{name}={value}");
        }
        assert!(contains_unencrypted_url("--registry=http://registry.test"), "an unencrypted URL must be detected");
        assert!(!contains_unencrypted_url("--registry=https://registry.test"), "an encrypted URL must be accepted");
    }

    #[test]
    fn lookup_environment_contains_registries_and_no_keys() {
        let own = environment_variable_map(&[
            ("API_KEY", "secret"),
            ("PATH", "/elsewhere"),
            ("NODE_OPTIONS", "--require /tmp/evil.js"),
            ("npm_config_registry", "https://registry.test"),
            ("npm_config_yes", "true"),
        ]);
        let passed = lookup_environment(Launcher::Npx, &own).unwrap();
        let names: Vec<&str> = passed.keys().map(String::as_str).collect();
        assert_eq!(names, ["npm_config_registry"], "only the registry must be passed on");
    }

    #[test]
    fn most_specific_line_of_a_lookup_error_is_reported() {
        let line = find_error_line("warning: old\nerror: not found\n  cause: offline\n");
        assert_eq!(line, Some("error: not found"), "the error line must take precedence over an earlier warning");
        assert_eq!(
            find_error_line("\nno such command\n\nRun --help\n"),
            Some("no such command"),
            "without an error line, the first line must be used"
        );
        assert_eq!(find_error_line("\n"), None, "empty output must have no error line");
    }

    #[test]
    fn settings_variable_of_the_server_prevents_a_package_lookup() {
        for (launcher, name, value) in [
            (Launcher::Npx, "NPM_CONFIG_USERCONFIG", "/tmp/npmrc"),
            (Launcher::Npx, "HOME", "/tmp"),
            (Launcher::Npx, "npm_config_registry", "https://${secret:KEY}@registry.test"),
            (Launcher::Uvx, "UV_CONFIG_FILE", "/tmp/uv.toml"),
            (Launcher::Uvx, "XDG_DATA_HOME", "/tmp"),
            (Launcher::Docker, "DOCKER_CONFIG", "/tmp/docker"),
        ] {
            let stopped = lookup_environment(launcher, &environment_variable_map(&[(name, value)]));
            assert_eq!(stopped, Err(UnknownPackage::Variable(name.into())), "{name}");
        }
    }

    #[test]
    fn program_next_to_a_launcher_off_the_search_path_is_not_run() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["npx", "npm"] {
            std::fs::write(folder.path().join(name), "").unwrap();
        }
        let program = folder.path().join("npx");
        let path = |directories: Vec<PathBuf>| SearchPath { directories, source: SearchPathSource::LoginShell };
        let off = find_package_manager(Launcher::Npx, &program, &path(vec!["/usr/bin".into()]));
        assert_eq!(
            off,
            Err(UnknownPackage::OffSearchPath(program.display().to_string())),
            "npm in a folder off the search path must not be run"
        );
        let on = find_package_manager(Launcher::Npx, &program, &path(vec![folder.path().into()]));
        assert_eq!(on, Ok(("npm", folder.path().join("npm"))), "npm next to npx must be found");
    }
}
