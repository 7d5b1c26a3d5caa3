//! Tests that only approved commands run, and that a sandbox hides Drawbridge's own files (S06, S10, S36).

use std::fs::{File, FileTimes};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use host::view::{ConsentRequestBody, ConsentRequestView, ServerFailure, ServerState, UserDecision};
use policy::ApprovalScope;
use ports::server_config::{AccessMode, AllowedFolder, SandboxConfig, ServerConfig, ServerEntry};
use testkit::app::local_config;

use crate::pair::GoodAndBadServers;

/// Maximum time for the start of a sandboxed server.
const START_TIMEOUT: Duration = Duration::from_secs(20);

fn is_start_request(request: &ConsentRequestView) -> bool {
    matches!(request.body, ConsentRequestBody::StartServer { .. })
}

/// Requests the start of the hostile server, and returns its consent request.
async fn request_start(pair: &GoodAndBadServers, what: &str) -> ConsentRequestView {
    pair.app.host.start_server("bad".into()).await.unwrap();
    pair.while_good_server_responds(what, pair.app.consent_request("bad", "its start", is_start_request)).await
}

/// Starts the hostile server with a permanent approval, and stops it again.
async fn approve_start_and_stop(pair: &GoodAndBadServers, what: &str) {
    let request = request_start(pair, what).await;
    pair.app.decide(&request, UserDecision::Allow(ApprovalScope::Always)).await;
    stop_server(pair).await;
}

async fn stop_server(pair: &GoodAndBadServers) {
    pair.app.until("bad", "ready", |s| s.state == ServerState::Ready).await;
    pair.app.host.stop_server("bad".into()).await.unwrap();
    pair.app.until("bad", "stopped", |s| s.state == ServerState::Stopped).await;
}

async fn deny_start(pair: &GoodAndBadServers, request: &ConsentRequestView) {
    pair.app.decide(request, UserDecision::Deny).await;
    pair.app.until("bad", "failed", |s| matches!(s.state, ServerState::Failed(_))).await;
}

/// Writes a script that runs the scripted server and contains `word` in a comment. All words have the same length, so
/// that all scripts do.
fn write_script(path: &Path, word: &str) {
    let server = testkit::binaries::scripted_server();
    std::fs::write(path, format!("#!/bin/sh\n# {word}\nexec {}\n", server.display())).unwrap();
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).unwrap();
}

/// Replaces the script by one of the same length that contains `word`, and restores its modification time.
fn replace_with_equal_times(path: &Path, word: &str) {
    let before = std::fs::metadata(path).unwrap();
    write_script(path, word);
    set_modification_time(path, before.modified().unwrap());
    let after = std::fs::metadata(path).unwrap();
    let identity = |facts: &std::fs::Metadata| (facts.len(), facts.modified().unwrap());
    assert_eq!(identity(&after), identity(&before), "length and modification time are unchanged");
}

fn set_modification_time(path: &Path, time: std::time::SystemTime) {
    File::options().write(true).open(path).unwrap().set_times(FileTimes::new().set_modified(time)).unwrap();
}

fn sandboxed_server(folders: Vec<AllowedFolder>, program: &str, args: &[&str]) -> ServerConfig {
    let mut config = local_config(program.into(), args);
    config.as_stdio_mut().unwrap().sandbox =
        Some(SandboxConfig { folders, network: ports::server_config::NetworkAccess::None });
    config
}

async fn wait_until_failed(pair: &GoodAndBadServers) -> ServerFailure {
    let view = pair.app.until("bad", "failed", |s| matches!(s.state, ServerState::Failed(_))).await;
    let ServerState::Failed(failure) = view.state else { panic!("it failed") };
    failure
}

/// The approved program is replaced by one of equal length and modification time, as another server that may write to
/// its folder could do. The next start requires consent.
#[tokio::test]
async fn s06_program_replaced_with_equal_times_requires_consent_again() {
    let what = "S06, a program of the same length and modification time";
    let folder = tempfile::tempdir().unwrap();
    let program = folder.path().join("server");
    write_script(&program, "before");
    let pair = GoodAndBadServers::with_undecided_start(local_config(program.clone(), &[])).await;
    approve_start_and_stop(&pair, what).await;
    replace_with_equal_times(&program, "behind");
    let request = request_start(&pair, what).await;
    deny_start(&pair, &request).await;
    pair.close(what).await;
}

/// The program is replaced after a first consent request and restored after a second one. An approval with the hash of
/// the first request is rejected for the second.
#[tokio::test]
async fn s06_approval_of_an_earlier_request_is_stale_for_a_later_one() {
    let what = "S06, the hash of an earlier request that fits the program again";
    let folder = tempfile::tempdir().unwrap();
    let program = folder.path().join("server");
    write_script(&program, "before");
    let pair = GoodAndBadServers::with_undecided_start(local_config(program.clone(), &[])).await;
    let earlier = request_start(&pair, what).await;
    deny_start(&pair, &earlier).await;
    write_script(&program, "behind");
    let later = request_start(&pair, what).await;
    assert_ne!(later.hash, earlier.hash, "{what}: the later request shows another program");
    write_script(&program, "before");
    let taken =
        pair.app.host.decide(later.id, earlier.hash.to_string(), UserDecision::Allow(ApprovalScope::Once)).await;
    assert_eq!(taken, Err(host::DecisionError::Stale), "{what}: the decision is not for the displayed program");
    let anew = pair.app.consent_request("bad", "its start, anew", |q| is_start_request(q) && q.id != later.id).await;
    assert_eq!(anew.hash, earlier.hash, "{what}: the current program is shown");
    deny_start(&pair, &anew).await;
    pair.close(what).await;
}

#[tokio::test]
async fn s06_replaced_script_in_the_arguments_requires_consent_again() {
    let what = "S06, a script in the arguments of the same length and modification time";
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("server.sh");
    write_script(&path, "before");
    let pair = GoodAndBadServers::with_undecided_start(local_config("/bin/sh".into(), &[path.to_str().unwrap()])).await;
    approve_start_and_stop(&pair, what).await;
    // A version manager may touch a file or rewrite it with the same content, which has no effect.
    write_script(&path, "before");
    set_modification_time(&path, std::time::SystemTime::UNIX_EPOCH);
    pair.app.host.start_server("bad".into()).await.unwrap();
    stop_server(&pair).await;
    assert!(pair.app.consent_requests().await.is_empty(), "{what}: a file with the same content requires no consent");
    replace_with_equal_times(&path, "behind");
    let request = request_start(&pair, what).await;
    let diff = request.marks.diff.as_deref().expect("the change is shown");
    assert!(format!("{:?}", diff.changes).contains("server.sh"), "{what}: the changed script is shown: {diff:?}");
    deny_start(&pair, &request).await;
    pair.close(what).await;
}

#[tokio::test]
async fn s06_script_writable_by_another_server_is_reported() {
    let what = "S06, a script in another server's writable folder";
    let folder = tempfile::tempdir().unwrap();
    let base = folder.path().canonicalize().unwrap();
    let path = base.join("server.sh");
    write_script(&path, "before");
    let pair = GoodAndBadServers::with_undecided_start(local_config("/bin/sh".into(), &[path.to_str().unwrap()])).await;
    let writable = AllowedFolder { path: base.clone(), access: AccessMode::Write };
    let entry = ServerEntry { name: "writer".into(), config: sandboxed_server(vec![writable], "/bin/sh", &[]) };
    pair.app.host.add_server(entry).await.unwrap();
    let request = request_start(&pair, what).await;
    let ConsentRequestBody::StartServer { writers, .. } = &request.body else { panic!("{what}: its start") };
    let shown_writers: Vec<(&str, &PathBuf, &PathBuf)> =
        writers.iter().map(|writer| (writer.server.as_str(), &writer.file, &writer.folder)).collect();
    assert_eq!(shown_writers, [("writer", &path, &base)], "{what}: the request shows who may change which file");
    deny_start(&pair, &request).await;
    pair.close(what).await;
}

#[tokio::test]
async fn s10_readable_folder_does_not_expose_files_of_drawbridge() {
    let what = "S10, a readable folder around Drawbridge's records and secrets";
    let pair = GoodAndBadServers::with_undecided_start(local_config("/bin/false".into(), &[])).await;
    let base = pair.app.folder.path().canonicalize().unwrap();
    let data = base.join("data");
    std::fs::write(data.join("planted"), "canary-of-s10").unwrap();
    let (settings, word) = (base.join("mcp.json"), tempfile::tempdir().unwrap());
    let reads = format!(
        "touch $HOME/inside; until [ -e {2}/go ]; do sleep 0.02; done; \
         ls {0} >&2; cat {0}/planted {0}/../data/planted {1} >&2; echo x > {0}/new; exit 3",
        data.display(),
        settings.display(),
        word.path().canonicalize().unwrap().display()
    );
    let around = AllowedFolder { path: base.parent().unwrap().to_owned(), access: AccessMode::Read };
    let other = ServerEntry { name: "other".into(), config: local_config("/bin/false".into(), &["--key=canary-key"]) };
    pair.app.host.add_server(other).await.unwrap();
    let config = sandboxed_server(vec![around], "/bin/sh", &["-c", &reads]);
    pair.app.host.update_server("bad".into(), ServerEntry { name: "bad".into(), config }).await.unwrap();
    pair.app.host.start_server("bad".into()).await.unwrap();
    let view = pair
        .app
        .until("bad", "asked about or refused", |s| {
            matches!(s.state, ServerState::AwaitingApproval | ServerState::Failed(_))
        })
        .await;
    if let ServerState::Failed(failure) = view.state {
        assert!(
            failure.message.contains("Landlock can't exclude them"),
            "{what}: the failure message contains the cause: {}",
            failure.message
        );
    } else {
        let request = pair.app.consent_request("bad", "its start", is_start_request).await;
        let ConsentRequestBody::StartServer { plan: Some(plan), .. } = &request.body else {
            panic!("{what}: its plan")
        };
        assert_eq!(plan.reach.hidden, std::slice::from_ref(&base), "{what}: the request shows the omitted folder");
        assert!(
            std::fs::read_to_string(&settings).unwrap().contains("canary-key"),
            "{what}: the settings contain a key"
        );
        pair.app.decide(&request, UserDecision::Allow(ApprovalScope::Once)).await;
        let homes = || std::fs::read_dir(data.join("sandbox")).into_iter().flatten().flatten();
        let end = Instant::now() + START_TIMEOUT;
        while !homes().any(|home| home.path().join("inside").exists()) {
            assert!(Instant::now() < end, "{what}: the server starts");
            // sleep: polls until the condition holds, which no event reports.
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        // Replaces the file like Drawbridge does. A mount over the old file is then gone, also in the sandbox.
        let replaced = base.join("mcp.json.new");
        std::fs::copy(&settings, &replaced).unwrap();
        std::fs::rename(&replaced, &settings).unwrap();
        std::fs::write(word.path().join("go"), "").unwrap();
        let stderr = wait_until_failed(&pair).await.stderr.join("\n");
        assert!(stderr.contains("planted"), "{what}: the server tried to read the file: {stderr}");
        for secret in ["canary-of-s10", "canary-key", "audit.db", "secrets.json", "history.db"] {
            assert!(!stderr.contains(secret), "{what}: {secret} is not accessible: {stderr}");
        }
        assert!(!data.join("new").exists(), "{what}: the file can't be written");
    }
    pair.close(what).await;
}

/// Tries to give a sandboxed server access to Drawbridge's own folders, one of which contains `mcp.json`.
#[tokio::test]
async fn s10_folders_of_drawbridge_cannot_be_allowed() {
    let what = "S10, a folder within Drawbridge's own";
    let pair = GoodAndBadServers::with_undecided_start(local_config("/bin/false".into(), &[])).await;
    let base = pair.app.folder.path().canonicalize().unwrap();
    let inner = base.join("data/held");
    std::fs::create_dir_all(&inner).unwrap();
    // The second folder contains mcp.json.
    let named = [inner, base].into_iter().flat_map(|path| {
        [AccessMode::Read, AccessMode::Write].map(|access| AllowedFolder { path: path.clone(), access })
    });
    for folder in named {
        let config = sandboxed_server(vec![folder], "/bin/sh", &[]);
        pair.app.host.update_server("bad".into(), ServerEntry { name: "bad".into(), config }).await.unwrap();
        pair.app.host.start_server("bad".into()).await.unwrap();
        let failure = wait_until_failed(&pair).await;
        assert!(failure.message.contains("own settings"), "{what}: the folder is rejected: {}", failure.message);
    }
    pair.close(what).await;
}

#[tokio::test]
async fn s36_failed_start_in_a_sandbox_names_what_to_add() {
    let what = "S36, a script that the sandbox does not reach";
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().canonicalize().unwrap().join("server.sh");
    write_script(&path, "before");
    // An argument that is the path of a script is reachable. A path within an argument is not.
    let sourced = format!(". {}", path.display());
    let pair = GoodAndBadServers::with_undecided_start(local_config("/bin/false".into(), &[])).await;
    let add = format!("add the folder {}", folder.path().canonicalize().unwrap().display());
    let relative = ["server.sh"].as_slice();
    for (arguments, expected) in [(relative, "server.sh is looked for in"), (&["-c", &sourced], add.as_str())] {
        let config = sandboxed_server(Vec::new(), "/bin/sh", arguments);
        pair.app.host.update_server("bad".into(), ServerEntry { name: "bad".into(), config }).await.unwrap();
        let preview = pair.app.host.plan_sandbox("bad".into()).await.expect("the sandbox can be set up");
        let missing: Vec<String> = preview.missing.iter().map(ToString::to_string).collect();
        assert!(
            missing.iter().any(|one| one.contains(expected)),
            "{what}: the preview reports the missing file: {missing:?}"
        );
        let request = request_start(&pair, what).await;
        pair.app.decide(&request, UserDecision::Allow(ApprovalScope::Once)).await;
        let hint = wait_until_failed(&pair).await.hint.unwrap_or_default();
        assert!(
            hint.contains("sandbox") && hint.contains(expected),
            "{what}: the failure reports the missing file: {hint}"
        );
    }
    pair.close(what).await;
}
