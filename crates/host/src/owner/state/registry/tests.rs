//! Tests the server registry without an owner.

use mcp_proto::Revision;
use mcp_proto::session::ServerFacts;
use mcp_proto::types::ServerCapabilities;
use ports::server_config::{AccessMode, AllowedFolder, NetworkAccess, SandboxConfig, StdioConfig, ToolFilter};
use ports::time::SystemClock;
use supervision::activity::ActivityLog;
use tokio::sync::mpsc;

use super::*;
use crate::connection::Connection;

pub(super) fn registry_with_server(sandbox: Option<SandboxConfig>) -> ServerRegistry {
    let config = StdioConfig { command: "server".to_owned(), sandbox, ..StdioConfig::default() };
    let mut registry = ServerRegistry::default();
    registry.records.insert(
        "s".to_owned(),
        Box::new(ServerRecord::new(config.into(), ActivityLog::default(), Arc::new(SystemClock))),
    );
    registry
}

#[test]
fn server_that_is_not_ready_receives_no_command() {
    let registry = registry_with_server(None);
    let refused = registry.send_command("s", ConnectionCommand::Ping);
    assert_eq!(
        refused,
        Err(CallFailure::NotReady { server: "s".to_owned() }),
        "a server that is not running is not ready"
    );
    assert!(
        matches!(registry.send_command("t", ConnectionCommand::Ping), Err(CallFailure::NotFound(_))),
        "there is no such server"
    );
    assert!(
        matches!(registry.check_displayed_definitions("s", &[]), Err(ReviewError::NotRunning(_))),
        "a server that is not running can't be reviewed"
    );
}

#[test]
fn sandboxed_server_receives_only_folders_within_its_sandbox() {
    let shared = vec![PathBuf::from("/work/a"), PathBuf::from("/other")];
    assert_eq!(
        registry_with_server(None).folders_sent_to_server("s", shared.clone()),
        shared,
        "without a sandbox all shared folders are sent"
    );
    let folder = AllowedFolder { path: PathBuf::from("/work"), access: AccessMode::Read };
    let sandbox = SandboxConfig { folders: vec![folder], network: NetworkAccess::None };
    assert_eq!(
        registry_with_server(Some(sandbox)).folders_sent_to_server("s", shared),
        [PathBuf::from("/work/a")],
        "with a sandbox only accessible folders are sent"
    );
}

#[test]
fn e7_only_a_sandbox_without_folders_leaves_nothing_to_share() {
    let folder = AllowedFolder { path: PathBuf::from("/work"), access: AccessMode::Read };
    let sandbox = |folders| Some(SandboxConfig { folders, network: NetworkAccess::None });
    assert!(registry_with_server(sandbox(vec![])).has_no_shareable_folders("s"), "no folder would reach the server");
    assert!(!registry_with_server(sandbox(vec![folder])).has_no_shareable_folders("s"), "the folder may be shared");
    assert!(!registry_with_server(None).has_no_shareable_folders("s"), "any folder may be shared");
}

#[test]
fn cancelled_start_is_no_longer_awaited() {
    let mut registry = registry_with_server(None);
    let config = registry.records["s"].config.clone();
    assert!(registry.starting_server("s", &config).is_none(), "a stopped server is not awaited");
    registry.records["s"].set_state(ServerState::Starting);
    assert!(registry.starting_server("s", &config).is_some(), "a starting server is awaited");
    let other = StdioConfig { command: "other".to_owned(), ..StdioConfig::default() }.into();
    assert!(registry.starting_server("s", &other).is_none(), "a start of another command is not awaited");
    let pinned = ServerConfig { revision: Some(Revision::V2025_11_25), ..(*config).clone() };
    assert!(registry.starting_server("s", &pinned).is_none(), "a start in another revision is not awaited");
    let tools = ToolFilter { enabled: None, disabled: vec!["echo".to_owned()] };
    let restricted = ServerConfig { tools, ..(*config).clone() };
    assert!(registry.starting_server("s", &restricted).is_some(), "the lists of tools have no effect on a start");
    let by_hand = ServerConfig { autostart: false, ..(*config).clone() };
    assert!(registry.starting_server("s", &by_hand).is_some(), "the time of a start has no effect on it");
}

/// Returns a registry with a server that is ready, and the receiver of the commands to its connection.
pub(super) fn registry_with_ready_server(
    revision: Revision,
) -> (ServerRegistry, mpsc::Receiver<Box<ConnectionCommand>>) {
    let mut registry = registry_with_server(None);
    let (sender, commands) = mpsc::channel(4);
    let record = &mut registry.records["s"];
    record.set_state(ServerState::Ready);
    record.session.connection = Some(Connection { run: RunId(1), sender });
    let capabilities = ServerCapabilities::default();
    record.session.facts = Some(ServerFacts { revision, server: None, capabilities, instructions: None });
    (registry, commands)
}

#[test]
fn response_unsupported_by_the_revision_is_rejected() {
    let (registry, _commands) = registry_with_ready_server(Revision::V2024_11_05);
    let answer = |content: Value| -> CreateMessageResult {
        serde_json::from_value(json!({ "role": "assistant", "model": "m", "content": content })).expect("an answer")
    };
    let text = json!({ "type": "text", "text": "yes" });
    let audio = json!({ "type": "audio", "data": "", "mimeType": "audio/wav" });
    let check = |content: &Value| registry.check_sampling_answer("s", &answer(content.clone()));
    assert_eq!(check(&text), Ok(()), "every revision supports a single text");
    assert_eq!(
        check(&json!([])),
        Err(DecisionError::WrongKind("the answer is empty")),
        "an empty response is rejected"
    );
    assert!(matches!(check(&audio), Err(DecisionError::WrongKind(_))), "the first revision doesn't support audio");
    let (newer, _commands) = registry_with_ready_server(Revision::V2025_11_25);
    assert_eq!(newer.check_sampling_answer("s", &answer(audio)), Ok(()), "a later revision supports audio");
}

#[test]
fn stale_lists_are_read_again() {
    let (mut registry, mut commands) = registry_with_ready_server(Revision::V2026_07_28);
    Arc::make_mut(&mut registry.records["s"].offer.catalog).fresh_until[0] = Some(1_000);
    registry.read_stale_lists("s", 999);
    assert!(commands.try_recv().is_err(), "fresh lists are not read again");
    registry.read_stale_lists("s", 1_000);
    assert!(matches!(commands.try_recv().as_deref(), Ok(ConnectionCommand::ReadStale)), "stale lists are read again");
    registry.records["s"].set_state(ServerState::Stopped);
    registry.read_stale_lists("s", 1_000);
    assert!(commands.try_recv().is_err(), "a server that is not ready receives no command");
}

#[test]
fn name_of_another_server_is_rejected() {
    let registry = registry_with_server(None);
    let config = StdioConfig { command: "server".to_owned(), ..StdioConfig::default() };
    let entry = |name: &str| ServerEntry { name: name.to_owned(), config: config.clone().into() };
    assert_eq!(registry.check_new_server(&entry("t")), Ok(()), "the name is not in use");
    assert!(
        matches!(registry.check_new_server(&entry("s")), Err(ServerError::BadName { .. })),
        "another server has the name"
    );
    assert_eq!(registry.check_changed_server("s", &entry("s")), Ok(()), "a server can keep its name");
    assert_eq!(registry.check_changed_server("s", &entry("t")), Ok(()), "a server can have another name");
    let missing = registry.check_changed_server("t", &entry("t"));
    assert_eq!(missing, Err(ServerError::NotFound("t".to_owned())), "an unknown server has no settings");
}
