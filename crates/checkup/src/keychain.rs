//! Checks that secrets can be stored permanently.

use ports::server_config::{ServerEntry, ServerTransport};
use ports::{Secrets, SecretsStatus, secrets};

use crate::finding::CheckOutcome;
use crate::text::FindingText;

pub(crate) fn check_keychain(keychain: &dyn Secrets, servers: &[ServerEntry]) -> CheckOutcome {
    let cause = |words: &'static str, cause: String| FindingText::new(words).and(" (").foreign(cause).and(").");
    let concerned = || {
        servers.iter().filter(|server| refers_to_keychain_secrets(server)).map(|server| server.name.clone()).collect()
    };
    match keychain.status() {
        SecretsStatus::Keychain => CheckOutcome::ok(FindingText::new("The system's keychain stores the key of your secrets.")),
        SecretsStatus::Locked { cause: status_cause } => CheckOutcome::problem(
            cause("The keychain is locked, or did not let Drawbridge in", status_cause),
            FindingText::new("Unlock it, for instance by signing in to the desktop with your password, and check again."),
        )
        .affecting_servers(concerned()),
        SecretsStatus::Missing { cause: status_cause } => CheckOutcome::warning(
            cause("This system has no keychain that responds, so secrets and sign-ins last until Drawbridge is closed", status_cause),
            FindingText::new(if cfg!(target_os = "linux") {
                "Install and start a keychain, such as GNOME Keyring (package gnome-keyring) or KWallet, in your desktop session, and check again."
            } else {
                "Sign in to the desktop with your password, and check again."
            }),
        )
        .affecting_servers(concerned()),
        SecretsStatus::Broken { cause: status_cause } => CheckOutcome::problem(
            cause("The stored secrets can't be used", status_cause),
            FindingText::new("Restart this computer and check again. If the cause stays, move secrets.json out of the data folder, and enter the secrets and sign in again."),
        )
        .affecting_servers(concerned()),
    }
}

/// Returns `true` if the settings of a server contain references to secrets in the keychain.
fn refers_to_keychain_secrets(server: &ServerEntry) -> bool {
    match &server.config.transport {
        ServerTransport::Stdio(stdio) => secrets::environment_refers_to_secrets(stdio),
        ServerTransport::Http(http) => {
            secrets::all_referenced_secret_names(&http.headers).next().is_some() || http.auth.is_some()
        }
    }
}

#[cfg(test)]
mod tests {
    use ports::server_config::{HttpConfig, StdioConfig};
    use ports::{SecretError, SecretPersistence};

    use super::*;
    use crate::finding::FindingState;

    struct KeychainWithStatus(SecretsStatus);

    impl Secrets for KeychainWithStatus {
        fn get(&self, _: &str) -> Result<Option<String>, SecretError> {
            Ok(None)
        }
        fn set(&self, _: &str, _: &str) -> Result<SecretPersistence, SecretError> {
            Ok(SecretPersistence::Keychain)
        }
        fn delete(&self, _: &str) -> Result<(), SecretError> {
            Ok(())
        }
        fn keys(&self, _: &str) -> Result<Vec<String>, SecretError> {
            Ok(Vec::new())
        }
        fn status(&self) -> SecretsStatus {
            self.0.clone()
        }
    }

    #[test]
    fn each_keychain_state_suggests_a_step_and_lists_affected_servers() {
        let entry = |name: &str, config| ServerEntry { name: name.to_owned(), config };
        let values = |value: &str| [("KEY".to_owned(), value.to_owned())].into();
        let servers = [
            entry("local", StdioConfig { env: values("${secret:a}"), ..StdioConfig::default() }.into()),
            entry("plain", StdioConfig { env: values("1"), ..StdioConfig::default() }.into()),
            entry("remote", HttpConfig { headers: values("Bearer ${secret:b}"), ..HttpConfig::default() }.into()),
        ];
        let cause = || "the cause".to_owned();
        let cases = [
            (SecretsStatus::Keychain, FindingState::Ok, ""),
            (SecretsStatus::Locked { cause: cause() }, FindingState::Problem, "Unlock it"),
            (SecretsStatus::Missing { cause: cause() }, FindingState::Warning, "keychain"),
            (SecretsStatus::Broken { cause: cause() }, FindingState::Problem, "secrets.json"),
        ];
        for (status, state, step) in cases {
            let outcome = check_keychain(&KeychainWithStatus(status.clone()), &servers);
            assert_eq!(outcome.state, state, "{status:?}");
            let remedy = outcome.remedy.map(|remedy| remedy.to_string()).unwrap_or_default();
            assert!(remedy.contains(step), "the remedy for {status:?} is suggested: {remedy}");
            if state != FindingState::Ok {
                assert!(outcome.observation.to_string().contains("the cause"), "{status:?}: {}", outcome.observation);
                assert_eq!(outcome.servers, ["local", "remote"], "{status:?} affects the servers with secrets");
            }
        }
    }
}
