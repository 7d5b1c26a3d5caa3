//! Checks which sandbox mechanisms are available on this computer.

use ports::server_config::ServerEntry;
use process::SearchPath;
use process::sandbox::SandboxMechanism;
use process::sandbox::sandbox_support::SandboxSupport;

use crate::finding::CheckOutcome;
use crate::text::FindingText;

/// Instructions for the user that make bubblewrap usable.
const BUBBLEWRAP_INSTRUCTIONS: &str = "Install bubblewrap (the package is called bubblewrap). If it is installed and may not create namespaces, allow that: on Ubuntu 24.04 and newer it takes an AppArmor profile for /usr/bin/bwrap with the rule \"userns,\". ";

pub(crate) async fn check_sandbox_support(path: SearchPath, servers: Vec<ServerEntry>) -> CheckOutcome {
    sandbox_outcome(SandboxSupport::find(&path).await, &servers)
}

fn sandbox_outcome(means: SandboxSupport, servers: &[ServerEntry]) -> CheckOutcome {
    let has_sandbox = |server: &&ServerEntry| server.config.as_stdio().is_some_and(|stdio| stdio.sandbox.is_some());
    let held: Vec<String> = servers.iter().filter(has_sandbox).map(|server| server.name.clone()).collect();
    let mut parts = FindingText::new("");
    for (index, (name, usable)) in means.features.iter().enumerate() {
        parts = parts.and(if index == 0 { "" } else { "; " }).and(name);
        parts = match usable {
            Ok(()) => parts.and(" works"),
            Err(cause) => parts.and(" does not work: ").foreign(cause),
        };
    }
    let parts = parts.and(".");
    match means.mechanism {
        Ok(SandboxMechanism::Landlock) => CheckOutcome::warning(
            parts,
            FindingText::new(BUBBLEWRAP_INSTRUCTIONS).and(
                "Without it, a server's network can't be limited to named hosts, and no folder that contains Drawbridge's data can be shared.",
            ),
        )
        .affecting_servers(held),
        Ok(_) => CheckOutcome::ok(parts).affecting_servers(held),
        Err(error) => {
            let remedy = if cfg!(target_os = "linux") {
                FindingText::new(BUBBLEWRAP_INSTRUCTIONS).and(
                    "Linux 6.2 and later have a sandbox without bubblewrap. Until then servers with a sandbox do not start; others are not concerned.",
                )
            } else {
                FindingText::new("Run servers that need one in a container. Servers with a sandbox do not start here; others are not concerned.")
            };
            let observation = parts.and(" ").foreign(error);
            let outcome = if held.is_empty() {
                CheckOutcome::warning(observation, remedy)
            } else {
                CheckOutcome::problem(observation, remedy)
            };
            outcome.affecting_servers(held)
        }
    }
}

#[cfg(test)]
mod tests {
    use ports::server_config::{SandboxConfig, StdioConfig};
    use process::sandbox::SandboxError;

    use super::*;
    use crate::finding::FindingState;

    #[test]
    fn missing_sandbox_mechanism_affects_sandboxed_servers_only() {
        let held = StdioConfig { sandbox: Some(SandboxConfig::default()), ..StdioConfig::default() };
        let servers = [
            ServerEntry { name: "held".to_owned(), config: held.into() },
            ServerEntry { name: "free".to_owned(), config: StdioConfig::default().into() },
        ];
        let none = || SandboxError::NoMechanism { cause: "nothing works".to_owned(), next: "" };
        let bubblewrap = || Ok(SandboxMechanism::Bubblewrap("/usr/bin/bwrap".into()));
        let cases = [
            (bubblewrap(), &servers[..], FindingState::Ok),
            (Ok(SandboxMechanism::Landlock), &servers[..], FindingState::Warning),
            (Err(none()), &servers[..], FindingState::Problem),
            (Err(none()), &servers[1..], FindingState::Warning),
        ];
        for (mechanism, servers, state) in cases {
            let parts = vec![("bubblewrap", Err("it is not installed".to_owned())), ("seccomp", Ok(()))];
            let outcome = sandbox_outcome(SandboxSupport { mechanism: mechanism.clone(), features: parts }, servers);
            assert_eq!(outcome.state, state, "{mechanism:?}");
            let remedy = outcome.remedy.as_ref().map(ToString::to_string);
            let steps = remedy.as_deref().is_some_and(|text| text.contains("Install bubblewrap"));
            assert_eq!(
                steps,
                cfg!(target_os = "linux") && state != FindingState::Ok
                    || matches!(mechanism, Ok(SandboxMechanism::Landlock)),
                "{remedy:?}"
            );
            assert_eq!(outcome.servers.len(), servers.len() - 1, "only servers with a sandbox are affected");
            let observation = outcome.observation.to_string();
            assert!(
                observation.starts_with("bubblewrap does not work: it is not installed; seccomp works."),
                "{observation}"
            );
        }
    }
}
