//! Checks that the Docker daemon is reachable. Docker's client can be installed without a running daemon, in which case
//! every server in a container fails to start.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use crate::computer::ProcessEnvironment;
use crate::finding::{CheckOutcome, FindingState};
use crate::text::FindingText;

/// Returns the paths at which the socket of the Docker daemon usually is, including those of Docker Desktop and of a
/// rootless daemon.
pub(crate) fn container_daemon_sockets(environment: &ProcessEnvironment) -> Vec<PathBuf> {
    let mut sockets = vec![PathBuf::from("/var/run/docker.sock")];
    if let Some(folder) = environment.get("XDG_RUNTIME_DIR") {
        sockets.push(Path::new(folder).join("docker.sock"));
    }
    if let Some(home) = &environment.home {
        sockets.extend([".docker/run/docker.sock", ".docker/desktop/docker.sock"].map(|socket| home.join(socket)));
    }
    sockets
}

/// Adds the state of the Docker daemon to the outcome of the check for Docker, if servers need Docker. Determines it by
/// connecting to these sockets, without sending anything.
pub(crate) fn with_container_daemon_status(outcome: CheckOutcome, sockets: &[PathBuf]) -> CheckOutcome {
    if cfg!(windows) || outcome.servers.is_empty() || outcome.state != FindingState::Ok {
        return outcome;
    }
    let servers = outcome.servers.clone();
    let tried: Vec<std::io::Result<()>> = sockets.iter().map(|socket| connect_to_socket(socket)).collect();
    if tried.iter().any(Result::is_ok) {
        return CheckOutcome { observation: outcome.observation.and(" Its daemon accepts connections."), ..outcome };
    }
    let denied = tried.iter().any(|one| one.as_ref().is_err_and(|error| error.kind() == ErrorKind::PermissionDenied));
    let worse = if denied {
        CheckOutcome::problem(
            outcome.observation.and(" You may not use its daemon."),
            FindingText::new(
                "Add yourself to the group docker (\"sudo usermod -aG docker $USER\"), sign out and in again. Members of this group have the rights of root. Podman needs no such group.",
            ),
        )
    } else {
        CheckOutcome::warning(
            outcome.observation.and(" Its daemon does not listen in any of the usual places."),
            FindingText::new(
                "Start it (\"sudo systemctl start docker\", or Docker Desktop). One elsewhere is fine if \"docker context\" names it; servers do not get your variable DOCKER_HOST.",
            ),
        )
    };
    worse.affecting_servers(servers)
}

#[cfg(unix)]
fn connect_to_socket(socket: &Path) -> std::io::Result<()> {
    std::os::unix::net::UnixStream::connect(socket).map(drop)
}

#[cfg(not(unix))]
fn connect_to_socket(_socket: &Path) -> std::io::Result<()> {
    Err(ErrorKind::Unsupported.into())
}

#[cfg(all(test, unix))]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn container_daemon_is_found_at_its_socket() {
        let home = tempfile::tempdir().unwrap();
        let environment =
            ProcessEnvironment::with_variables(&[("XDG_RUNTIME_DIR", "/run/user/1000")], Some(home.path().to_owned()));
        let sockets = container_daemon_sockets(&environment);
        assert!(
            sockets.contains(&"/run/user/1000/docker.sock".into()),
            "the socket of a rootless daemon is included: {sockets:?}"
        );
        let of_home: Vec<PathBuf> = sockets.into_iter().filter(|socket| socket.starts_with(home.path())).collect();
        let docker = || CheckOutcome::ok(FindingText::new("Docker 27.3.1")).affecting_servers(vec!["box".to_owned()]);
        let without = with_container_daemon_status(docker(), &of_home);
        assert_eq!(without.state, FindingState::Warning, "{}", without.observation);
        assert!(
            without.remedy.is_some_and(|remedy| remedy.to_string().contains("systemctl start docker")),
            "the remedy is to start the daemon"
        );
        assert_eq!(without.servers, ["box"], "the affected server is named");
        let nobody = with_container_daemon_status(CheckOutcome::ok(FindingText::new("Docker 27.3.1")), &of_home);
        assert_eq!(nobody.state, FindingState::Ok, "no problem is reported if no server needs the daemon");
        std::fs::create_dir_all(of_home[0].parent().unwrap()).unwrap();
        let _listens = std::os::unix::net::UnixListener::bind(&of_home[0]).unwrap();
        let with = with_container_daemon_status(docker(), &of_home);
        assert_eq!(with.state, FindingState::Ok, "{}", with.observation);
        assert!(with.observation.to_string().contains("accepts connections"), "{}", with.observation);
    }
}
