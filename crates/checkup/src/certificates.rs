//! Checks the certificates used to authenticate remote servers: those that Drawbridge trusts, and certificate files
//! named in the settings of local servers.

use std::path::{Path, PathBuf};

use ports::server_config::ServerEntry;
use rustls_native_certs::{CertificateResult, load_certs_from_paths, load_native_certs};

use crate::computer::ProcessEnvironment;
use crate::finding::CheckOutcome;
use crate::text::FindingText;

/// Environment variable with the path of a file of CA certificates that Drawbridge's HTTP client trusts.
const CERT_FILE_VARIABLE: &str = "SSL_CERT_FILE";
const CERT_FOLDER_VARIABLE: &str = "SSL_CERT_DIR";
/// Environment variables with paths of CA certificates that local servers trust if they use Node.js, Python, curl or
/// Git.
const SERVER_CERT_VARIABLES: [&str; 5] =
    [CERT_FILE_VARIABLE, "NODE_EXTRA_CA_CERTS", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "GIT_SSL_CAINFO"];

pub(crate) fn check_certificates(environment: &ProcessEnvironment, servers: &[ServerEntry]) -> CheckOutcome {
    let named: Vec<&'static str> =
        [CERT_FILE_VARIABLE, CERT_FOLDER_VARIABLE].into_iter().filter(|name| environment.get(name).is_some()).collect();
    let file = environment.get(CERT_FILE_VARIABLE).map(PathBuf::from);
    let folder = environment.get(CERT_FOLDER_VARIABLE).map(PathBuf::from);
    // Loads the certificates in the same way as the HTTP client.
    let loaded = match (&file, &folder) {
        (None, None) => load_native_certs(),
        _ => load_certs_from_paths(file.as_deref(), folder.as_deref()),
    };
    let remote = || servers.iter().filter(|server| server.config.as_http().is_some()).map(|server| server.name.clone());
    if let Some(outcome) = http_client_certificates_problem(&loaded, &named) {
        return outcome.affecting_servers(remote().collect());
    }
    let broken: Vec<String> = servers
        .iter()
        .filter(|server| has_unreadable_certificate_file(server))
        .map(|server| server.name.clone())
        .collect();
    if !broken.is_empty() {
        return CheckOutcome::problem(
            FindingText::new("A file with certificates can't be read that is named in the settings of ").count(broken.len(), "server", "servers").and("."),
            FindingText::new("Correct the path in the variables of those servers (such as NODE_EXTRA_CA_CERTS), or remove the variable."),
        )
        .affecting_servers(broken);
    }
    let observation = FindingText::new("Trusted: ").count(loaded.certs.len(), "certificate", "certificates");
    CheckOutcome::ok(match named.first() {
        Some(variable) => observation.and(", from ").and(variable).and(". Local servers do not get this variable."),
        None => observation.and(", from the system."),
    })
}

/// Returns the outcome if the CA certificates that Drawbridge's HTTP client has loaded can't be used, or `None` if they
/// can. `named` are the environment variables that specify them.
fn http_client_certificates_problem(loaded: &CertificateResult, named: &[&'static str]) -> Option<CheckOutcome> {
    let cause = |text: FindingText| match loaded.errors.first() {
        Some(error) => text.and(" (").foreign(error).and(")."),
        None => text.and("."),
    };
    match (named.first(), loaded.certs.is_empty()) {
        (Some(variable), true) => Some(CheckOutcome::problem(
            cause(
                FindingText::new("No certificate can be read from where ")
                    .and(variable)
                    .and(" points, so no https server is trusted"),
            ),
            FindingText::new(
                "Correct the path, make the file readable and see that it is in PEM format, or unset the variable for the session from which Drawbridge is started.",
            ),
        )),
        (Some(variable), false) if !loaded.errors.is_empty() => Some(CheckOutcome::warning(
            cause(FindingText::new("Some certificates can't be read from where ").and(variable).and(" points")),
            FindingText::new("Repair or remove the file that is named there."),
        )),
        (None, true) => Some(CheckOutcome::problem(
            cause(FindingText::new("The system has no certificates, so no https server is trusted")),
            FindingText::new("Install them (on Linux the package ca-certificates)."),
        )),
        _ => None,
    }
}

/// Returns `true` if an environment variable in the settings of a local server specifies a certificate file that can't
/// be read.
fn has_unreadable_certificate_file(server: &ServerEntry) -> bool {
    let Some(stdio) = server.config.as_stdio() else { return false };
    let is_unreadable = |path: &Path| path.is_absolute() && std::fs::File::open(path).is_err();
    stdio.env.iter().any(|(name, value)| {
        SERVER_CERT_VARIABLES.contains(&name.as_str())
            && !value.is_empty()
            && !value.contains("${")
            && is_unreadable(Path::new(value))
    })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use ports::server_config::{HttpConfig, StdioConfig};

    use super::*;
    use crate::finding::FindingState;

    fn servers_with_variable(variable: Option<(&str, &str)>) -> Vec<ServerEntry> {
        let env = variable.map(|(name, value)| (name.to_owned(), value.to_owned())).into_iter().collect();
        vec![
            ServerEntry { name: "far".to_owned(), config: HttpConfig::default().into() },
            ServerEntry { name: "near".to_owned(), config: StdioConfig { env, ..StdioConfig::default() }.into() },
        ]
    }

    #[test]
    fn unusable_certificate_file_is_a_problem_of_remote_servers() {
        let folder = tempfile::tempdir().unwrap();
        let [missing, empty, good] =
            ["missing", "empty", "good"].map(|name| folder.path().join(name).display().to_string());
        std::fs::write(&empty, "no certificate").unwrap();
        let made = rcgen::generate_simple_self_signed(vec!["a.example".to_owned()]).unwrap();
        std::fs::write(&good, made.cert.pem()).unwrap();
        for path in [&missing, &empty] {
            let outcome = check_certificates(
                &ProcessEnvironment::with_variables(&[(CERT_FILE_VARIABLE, path)], None),
                &servers_with_variable(None),
            );
            assert_eq!(outcome.state, FindingState::Problem, "{path}: {}", outcome.observation);
            assert!(
                outcome.observation.to_string().contains(CERT_FILE_VARIABLE),
                "the variable is named: {}",
                outcome.observation
            );
            assert_eq!(outcome.servers, ["far"], "{path}: the remote server is affected");
        }
        let outcome = check_certificates(
            &ProcessEnvironment::with_variables(&[(CERT_FILE_VARIABLE, &good)], None),
            &servers_with_variable(None),
        );
        assert_eq!(outcome.state, FindingState::Ok, "{}", outcome.observation);
        assert!(outcome.observation.to_string().starts_with("Trusted: 1 certificate,"), "{}", outcome.observation);
        let outcome = check_certificates(
            &ProcessEnvironment::with_variables(&[(CERT_FILE_VARIABLE, &good), (CERT_FOLDER_VARIABLE, &missing)], None),
            &servers_with_variable(None),
        );
        assert_eq!(
            outcome.state,
            FindingState::Warning,
            "only some of the certificates can be loaded: {}",
            outcome.observation
        );
    }

    #[test]
    fn missing_certificate_file_of_a_local_server_is_reported() {
        let folder = tempfile::tempdir().unwrap();
        let good = folder.path().join("good");
        let made = rcgen::generate_simple_self_signed(vec!["a.example".to_owned()]).unwrap();
        std::fs::write(&good, made.cert.pem()).unwrap();
        let environment = ProcessEnvironment::with_variables(&[(CERT_FILE_VARIABLE, good.to_str().unwrap())], None);
        let outcome = check_certificates(
            &environment,
            &servers_with_variable(Some(("NODE_EXTRA_CA_CERTS", "/nonexistent/ca.pem"))),
        );
        assert_eq!(
            (outcome.state, &outcome.servers[..]),
            (FindingState::Problem, &["near".to_owned()][..]),
            "{}",
            outcome.observation
        );
        let outcome = check_certificates(
            &environment,
            &servers_with_variable(Some(("NODE_EXTRA_CA_CERTS", good.to_str().unwrap()))),
        );
        assert_eq!(outcome.state, FindingState::Ok, "an existing file is not reported: {}", outcome.observation);
    }
}
