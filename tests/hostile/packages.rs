//! Tests of packages that launchers load: the approval is for one version, and exactly this version is started (S25).

use std::os::unix::fs::PermissionsExt as _;

use host::HostOptions;
use host::view::{ConsentRequestBody, ConsentRequestView, ServerState, UserDecision};
use launches::packages::{LoadedPackage, UnknownPackage};
use policy::{ApprovalScope, PolicyRule};
use ports::server_config::{SandboxConfig, ServerConfig, StdioConfig};
use process::{SearchPath, SearchPathSource};
use serde_json::json;
use testkit::app::TestApp;

use crate::pair::GoodAndBadServers;

/// Folder with a fake package launcher, such as npx, which runs the scripted server, and with a fake package manager
/// whose output the test sets.
struct FakePackageLaunchers {
    folder: tempfile::TempDir,
}

impl FakePackageLaunchers {
    /// Creates the folder with two fake programs: `launcher`, which runs a package, and `client`, which the host asks
    /// for versions. Both may have the same name.
    fn new(launcher: &str, client: &str) -> Self {
        let launchers = Self { folder: tempfile::tempdir().unwrap() };
        let server = testkit::binaries::scripted_server();
        let own = launchers.folder.path().display().to_string();
        let script = format!("#!/bin/sh\necho \"$@\" >> {own}/asked\n. {own}/behaviour\n");
        let starts = format!("echo \"$@\" >> {own}/started\nexec {}\n", server.display());
        if launcher == client {
            let first = format!("#!/bin/sh\nif [ \"$1\" = run ]; then {starts}fi\n");
            launchers.write_script(client, &format!("{first}{}", script.trim_start_matches("#!/bin/sh\n")));
        } else {
            launchers.write_script(client, &script);
            launchers.write_script(launcher, &format!("#!/bin/sh\n{starts}"));
        }
        launchers
    }

    fn write_script(&self, name: &str, text: &str) {
        let path = self.folder.path().join(name);
        std::fs::write(&path, text).unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
    }

    fn set_launcher_script(&self, shell: &str) {
        std::fs::write(self.folder.path().join("behaviour"), shell).unwrap();
    }

    /// Makes the fake package manager report this version and integrity hash.
    fn set_version(&self, version: &str, integrity: &str) {
        let answer = json!({
            "name": "@scope/server",
            "version": version,
            "dist.integrity": integrity,
            "dist.tarball": "https://registry.test/server.tgz",
        });
        self.set_launcher_script(&format!("cat <<'END'\n{answer}\nEND\n"));
    }

    fn read_lines(&self, name: &str) -> Vec<String> {
        let text = std::fs::read_to_string(self.folder.path().join(name)).unwrap_or_default();
        text.lines().map(str::to_owned).collect()
    }

    /// Returns the arguments of each run of the fake launcher.
    fn launches(&self) -> Vec<String> {
        self.read_lines("started")
    }

    /// Returns the arguments of each run of the fake package manager.
    fn lookups(&self) -> Vec<String> {
        self.read_lines("asked")
    }

    fn search_path(&self) -> SearchPath {
        let directories = vec![self.folder.path().into(), "/usr/bin".into(), "/bin".into()];
        SearchPath { directories, source: SearchPathSource::LoginShell }
    }

    async fn start_servers(&self, config: ServerConfig) -> GoodAndBadServers {
        let search_path = self.search_path().into();
        GoodAndBadServers::with_undecided_start_and_options(config, |all| HostOptions { search_path, ..all }).await
    }
}

fn launcher_config(program: &str, args: &[&str]) -> ServerConfig {
    let args = args.iter().map(|&arg| arg.to_owned()).collect();
    // The root folder has no parent with project files.
    StdioConfig { command: program.into(), args, cwd: Some("/".into()), ..StdioConfig::default() }.into()
}

fn npx_config() -> ServerConfig {
    launcher_config("npx", &["-y", "@scope/server", "--port", "1"])
}

fn is_start_request(request: &ConsentRequestView) -> bool {
    matches!(request.body, ConsentRequestBody::StartServer { .. })
}

fn displayed_package(request: &ConsentRequestView) -> (&StdioConfig, &LoadedPackage) {
    match &request.body {
        ConsentRequestBody::StartServer { config, package: Some(package), .. } => (config, package),
        other => panic!("the package is in the consent request: {other:?}"),
    }
}

async fn request_start(app: &TestApp) -> ConsentRequestView {
    app.host.start_server("bad".into()).await.unwrap();
    app.consent_request("bad", "its start", is_start_request).await
}

async fn stop_server(app: &TestApp) {
    app.host.stop_server("bad".into()).await.unwrap();
    app.until("bad", "stopped", |s| s.state == ServerState::Stopped).await;
}

async fn allow_start(app: &TestApp, request: &ConsentRequestView, scope: ApprovalScope) {
    app.decide(request, UserDecision::Allow(scope)).await;
    app.until("bad", "ready", |s| s.state == ServerState::Ready).await;
}

async fn deny_start(app: &TestApp, request: &ConsentRequestView) {
    app.decide(request, UserDecision::Deny).await;
    app.until("bad", "failed", |s| matches!(s.state, ServerState::Failed(_))).await;
}

#[tokio::test]
async fn s25_package_is_shown_with_its_version_and_only_that_one_runs() {
    let what = "S25, npx with no version, whose newest changes between two starts";
    let launchers = FakePackageLaunchers::new("npx", "npm");
    launchers.set_version("1.2.3", "sha512-one");
    let pair = launchers.start_servers(npx_config()).await;
    let request = pair.while_good_server_responds(what, request_start(&pair.app)).await;
    let (config, shown) = displayed_package(&request);
    let found = shown.found.as_ref().expect("npm reported the version");
    assert_eq!(
        (found.version.as_str(), found.integrity.as_deref()),
        ("1.2.3", Some("sha512-one")),
        "{what}: the version is shown"
    );
    assert_eq!(shown.requested_version, None, "{what}: the settings contain no version");
    assert_eq!(config.args, ["-y", "@scope/server@1.2.3", "--port", "1"], "{what}: the exact command is shown");
    assert_eq!(request.command_line, "npx -y @scope/server@1.2.3 --port 1", "{what}: the command line is shown");
    assert!(launchers.launches().is_empty(), "{what}: the launcher does not run before the decision");
    allow_start(&pair.app, &request, ApprovalScope::Once).await;
    assert_eq!(launchers.launches(), ["-y @scope/server@1.2.3 --port 1"], "{what}: the approved version runs");
    stop_server(&pair.app).await;

    launchers.set_version("1.2.4", "sha512-two");
    let request = request_start(&pair.app).await;
    let (_, shown) = displayed_package(&request);
    let versions =
        (shown.before.as_ref().map(|v| v.version.as_str()), shown.found.as_ref().map(|v| v.version.as_str()));
    assert_eq!(
        versions,
        (Some("1.2.3"), Ok("1.2.4")),
        "{what}: a newer version requires consent and shows the approved one"
    );
    let diff = request.marks.diff.as_deref().expect("the change is marked");
    let changed: Vec<String> = diff.changes.iter().map(|change| change.path.join(".")).collect();
    for part in ["package.version", "package.integrity", "arguments.2"] {
        assert!(changed.iter().any(|path| path == part), "{what}: the difference contains {part}: {changed:?}");
    }
    deny_start(&pair.app, &request).await;
    assert_eq!(launchers.launches().len(), 1, "{what}: the launcher did not run");
    pair.close(what).await;
}

#[tokio::test]
async fn s25_grant_runs_its_version_without_a_lookup() {
    let what = "S25, an approved version, while the registry offers another or nothing";
    let launchers = FakePackageLaunchers::new("npx", "npm");
    launchers.set_version("1.2.3", "sha512-one");
    let pair = launchers.start_servers(npx_config()).await;
    let request = request_start(&pair.app).await;
    allow_start(&pair.app, &request, ApprovalScope::Always).await;
    assert!(pair.app.server("bad").await.approved, "{what}: it is approved as it is");
    stop_server(&pair.app).await;
    launchers.set_version("6.6.6", "sha512-evil");
    pair.app.host.start_server("bad".into()).await.unwrap();
    pair.app.until("bad", "ready", |s| s.state == ServerState::Ready).await;
    assert_eq!(launchers.lookups().len(), 1, "{what}: npm was queried once, for the first start");
    assert_eq!(launchers.launches(), ["-y @scope/server@1.2.3 --port 1"; 2], "{what}: the approved version runs again");
    pair.close(what).await;
}

/// For `pkg@1.2.3`, npx runs a program of that name in a parent folder instead of this version of the package, and uses
/// the registry that a file there names. If such files appear, the next start requires consent.
#[tokio::test]
async fn s25_project_files_that_npx_would_run_instead_require_consent() {
    for (file, text) in [
        ("node_modules/.bin/@scope/server@1.2.3", "#!/bin/sh\n"),
        ("node_modules/x/node_modules/@scope/server/package.json", "{}"),
        ("package.json", r#"{"bin":{"@scope/server@1.2.3":"evil.js"}}"#),
        (".npmrc", "registry=https://evil.test"),
    ] {
        let what = format!("S25, {file} above the working directory of an approved server");
        let launchers = FakePackageLaunchers::new("npx", "npm");
        launchers.set_version("1.2.3", "sha512-one");
        let project = tempfile::tempdir().unwrap();
        let inner = project.path().join("inner");
        std::fs::create_dir(&inner).unwrap();
        let mut config = npx_config();
        config.as_stdio_mut().unwrap().cwd = Some(inner);
        let pair = launchers.start_servers(config).await;
        let request = request_start(&pair.app).await;
        assert!(displayed_package(&request).1.found.is_ok(), "{what}: the version is known");
        allow_start(&pair.app, &request, ApprovalScope::Always).await;
        stop_server(&pair.app).await;
        let file = project.path().join(file);
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(&file, text).unwrap();
        let request = request_start(&pair.app).await;
        let found = &displayed_package(&request).1.found;
        assert!(
            matches!(found, Err(UnknownPackage::LocalCopy(_) | UnknownPackage::ProjectSettings(_))),
            "{what}: the request states that another program may run: {found:?}"
        );
        deny_start(&pair.app, &request).await;
        assert_eq!(launchers.launches().len(), 1, "{what}: nothing ran without consent");
        pair.close(&what).await;
    }
}

#[tokio::test]
async fn s25_other_files_under_the_same_version_require_consent() {
    let what = "S25, the same version with another hash";
    let launchers = FakePackageLaunchers::new("npx", "npm");
    launchers.set_version("1.2.3", "sha512-one");
    let pair = launchers.start_servers(npx_config()).await;
    let request = request_start(&pair.app).await;
    let hash = request.hash.clone();
    allow_start(&pair.app, &request, ApprovalScope::Once).await;
    stop_server(&pair.app).await;
    launchers.set_version("1.2.3", "sha512-evil");
    let request = request_start(&pair.app).await;
    assert_ne!(request.hash, hash, "{what}: the hash is part of the approval");
    let (_, shown) = displayed_package(&request);
    let (before, found) = (shown.before.as_ref().unwrap(), shown.found.as_ref().unwrap());
    assert!(before.is_replaced_by(found), "{what}: the request states that the files have changed: {shown:?}");
    deny_start(&pair.app, &request).await;
    pair.close(what).await;
}

/// The host keeps starting the approved version of a package. It announces a newer one, and starts that one only with
/// consent.
#[tokio::test]
async fn s25_newer_version_is_announced_and_requires_consent_at_the_next_start() {
    let what = "S25, a newer version a day later";
    let launchers = FakePackageLaunchers::new("npx", "npm");
    launchers.set_version("1.2.3", "sha512-one");
    let options = || host::HostOptions { search_path: launchers.search_path().into(), ..Default::default() };
    let app = TestApp::start_in_folder(tempfile::tempdir().unwrap(), vec![("bad", npx_config())], options()).await;
    let request = request_start(&app).await;
    allow_start(&app, &request, ApprovalScope::Always).await;
    let file = app.host.ports().documents.path().join("packages.json");
    app.host.close().await;
    let stored = std::fs::read_to_string(&file).unwrap();
    let mut stored: serde_json::Value = serde_json::from_str(&stored).unwrap();
    stored["bad"]["looked_up"] = json!(0);
    std::fs::write(&file, stored.to_string()).unwrap();

    launchers.set_version("1.2.4", "sha512-two");
    let app = TestApp::start_in_folder(app.folder, Vec::new(), options()).await;
    app.host.start_server("bad".into()).await.unwrap();
    app.until("bad", "ready", |s| s.state == ServerState::Ready).await;
    assert_eq!(launchers.launches(), ["-y @scope/server@1.2.3 --port 1"; 2], "{what}: the approved version runs");
    let deadline = tokio::time::Instant::now() + testkit::app::EVENT_TIMEOUT;
    while !app.activity("bad").await.contains("1.2.4 is available") {
        assert!(tokio::time::Instant::now() < deadline, "{what}: the newer version is announced");
        // sleep: polls until the condition holds, which no event reports.
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
    }
    stop_server(&app).await;
    launchers.set_launcher_script("exit 1");
    app.host.start_server("bad".into()).await.unwrap();
    app.until("bad", "ready", |s| s.state == ServerState::Ready).await;
    assert_eq!(launchers.launches()[2], "-y @scope/server@1.2.3 --port 1", "{what}: the approved version runs offline");
    stop_server(&app).await;
    launchers.set_version("1.2.4", "sha512-two");
    let request = request_start(&app).await;
    assert_eq!(
        displayed_package(&request).0.args[1],
        "@scope/server@1.2.4",
        "{what}: the next start requires consent to the newer version"
    );
    deny_start(&app, &request).await;
    app.host.start_server("bad".into()).await.unwrap();
    app.until("bad", "ready", |s| s.state == ServerState::Ready).await;
    assert_eq!(
        launchers.launches()[3],
        "-y @scope/server@1.2.3 --port 1",
        "{what}: after a denial the approved version runs"
    );
    app.host.close().await;
}

#[tokio::test]
async fn s25_failed_lookup_reports_its_cause() {
    let cases = [
        ("rubbish", "echo '<html>'", "could not be read"),
        ("another package", "echo '{\"name\":\"evil\",\"version\":\"1.0.0\"}'", "could not be read"),
        (
            "a version with a blank",
            "echo '{\"name\":\"@scope/server\",\"version\":\"1.0.0 --x\"}'",
            "could not be read",
        ),
        ("a status", "echo nope >&2; exit 3", "nope"),
        ("npm's words", "echo '{\"error\":{\"summary\":\"Not found\\u001b[31m\"}}'; exit 1", "Not found\\x1b[31m"),
        ("a flood", "exec cat /dev/zero", "printed more than"),
    ];
    for (about, behaviour, words) in cases {
        let what = format!("S25, a look-up that ends in {about}");
        let launchers = FakePackageLaunchers::new("npx", "npm");
        launchers.set_launcher_script(behaviour);
        let pair = launchers.start_servers(npx_config()).await;
        let request = pair.while_good_server_responds(&what, request_start(&pair.app)).await;
        let (config, shown) = displayed_package(&request);
        let cause = shown.found.as_ref().expect_err("there is no version");
        assert!(cause.to_string().contains(words), "{what}: {cause}");
        assert_eq!(config.args[1], "@scope/server", "{what}: no version is made up");
        deny_start(&pair.app, &request).await;
        pair.close(&what).await;
    }
}

#[tokio::test]
async fn s25_package_of_a_denied_server_is_not_looked_up() {
    let what = "S25, a package of a server that a rule denies";
    let launchers = FakePackageLaunchers::new("npx", "npm");
    launchers.set_version("1.2.3", "sha512-one");
    let options = host::HostOptions { search_path: launchers.search_path().into(), ..Default::default() };
    let app = TestApp::start_in_folder(tempfile::tempdir().unwrap(), vec![("bad", npx_config())], options).await;
    let denies = json!({"effect": "deny", "identity": "*@scope/server*", "direction": "both"});
    let denies: PolicyRule = serde_json::from_value(denies).unwrap();
    let rule = app.host.set_rule(denies).await.unwrap();
    app.host.start_server("bad".into()).await.unwrap();
    app.until("bad", "refused", |s| matches!(s.state, ServerState::Failed(_))).await;
    assert!(launchers.lookups().is_empty(), "{what}: no package manager ran: {:?}", launchers.lookups());
    app.host.remove_rule(rule).await.unwrap();
    let request = request_start(&app).await;
    assert!(!launchers.lookups().is_empty(), "{what}: without the rule the version is looked up");
    deny_start(&app, &request).await;
    app.host.close().await;
}

#[tokio::test]
async fn s25_hanging_lookup_times_out() {
    let what = "S25, a look-up that never ends";
    let launchers = FakePackageLaunchers::new("npx", "npm");
    launchers.set_launcher_script("sleep 600 & wait");
    let pair = launchers.start_servers(npx_config()).await;
    let request = pair.while_good_server_responds(what, request_start(&pair.app)).await;
    let (_, shown) = displayed_package(&request);
    assert!(
        matches!(shown.found, Err(UnknownPackage::TimedOut { .. })),
        "{what}: the request states the cause: {shown:?}"
    );
    deny_start(&pair.app, &request).await;
    pair.close(what).await;
}

#[tokio::test]
async fn s25_unknown_package_is_reported_without_running_anything() {
    let home = |mut config: ServerConfig| {
        if let Some(stdio) = config.as_stdio_mut() {
            stdio.env.insert("HOME".into(), "/tmp".into());
        }
        config
    };
    let elsewhere = FakePackageLaunchers::new("npx", "npm");
    let off_path = elsewhere.folder.path().join("npx").display().to_string();
    let held = |mut config: ServerConfig| {
        if let Some(stdio) = config.as_stdio_mut() {
            (stdio.sandbox, stdio.cwd) = (Some(SandboxConfig::default()), None);
        }
        config
    };
    let cases: [(&str, ServerConfig, UnknownPackage); 5] = [
        ("a sandbox without a network", held(npx_config()), UnknownPackage::NoNetwork),
        ("npx -c", launcher_config("npx", &["-y", "-c", "touch x"]), UnknownPackage::ShellLine),
        (
            "a git address",
            launcher_config("npx", &["-y", "github:scope/server"]),
            UnknownPackage::Specifier("github:scope/server".into()),
        ),
        ("another home", home(npx_config()), UnknownPackage::Variable("HOME".into())),
        (
            "a launcher off the search path",
            launcher_config(&off_path, &["-y", "@scope/server"]),
            UnknownPackage::OffSearchPath(off_path.clone()),
        ),
    ];
    for (about, config, expected) in cases {
        let what = format!("S25, {about}");
        let launchers = FakePackageLaunchers::new("npx", "npm");
        launchers.set_version("1.2.3", "sha512-one");
        let pair = launchers.start_servers(config).await;
        let request = request_start(&pair.app).await;
        assert_eq!(displayed_package(&request).1.found, Err(expected), "{what}");
        let lookups = [launchers.lookups(), elsewhere.lookups()].concat();
        assert!(lookups.is_empty(), "{what}: no package manager ran: {lookups:?}");
        deny_start(&pair.app, &request).await;
        pair.close(&what).await;
    }
}

#[tokio::test]
async fn s25_python_packages_are_pinned() {
    let what = "S25, uvx with no version";
    let launchers = FakePackageLaunchers::new("uvx", "uv");
    let hash = "a".repeat(64);
    launchers.set_launcher_script(&format!("read wanted\n[ \"$wanted\" = mcp-server-time ] || exit 1\ncat <<'END'\nmcp-server-time==2.0.1 \\\n    --hash=sha256:{hash}\n    # from https://index.test/simple\nEND\n"));
    let pair = launchers.start_servers(launcher_config("uvx", &["mcp-server-time", "--local"])).await;
    let request = request_start(&pair.app).await;
    let (_, shown) = displayed_package(&request);
    let found = shown.found.as_ref().expect("uv reported the version");
    assert_eq!(found.integrity, Some(format!("sha256:{hash}")), "{what}: the hash is shown");
    assert!(launchers.lookups()[0].contains("--no-build"), "{what}: the lookup runs no code of the package");
    allow_start(&pair.app, &request, ApprovalScope::Once).await;
    assert_eq!(launchers.launches(), ["mcp-server-time@2.0.1 --local"], "{what}: the approved version runs");
    pair.close(what).await;
}

#[tokio::test]
async fn s25_images_run_by_their_digest() {
    let what = "S25, docker run with a tag that moves";
    let launchers = FakePackageLaunchers::new("docker", "docker");
    let digest = |digit: &str| format!("sha256:{}", digit.repeat(64));
    let registry = |digest: &str| format!("[ \"$1\" = buildx ] || exit 1\necho '{{\"digest\":\"{digest}\"}}'\n");
    launchers.set_launcher_script(&registry(&digest("a")));
    let pair = launchers.start_servers(launcher_config("docker", &["run", "-i", "--rm", "mcp/fetch:latest"])).await;
    let request = request_start(&pair.app).await;
    allow_start(&pair.app, &request, ApprovalScope::Once).await;
    assert_eq!(
        launchers.launches(),
        [format!("run -i --rm mcp/fetch@{}", digest("a"))],
        "{what}: the image is pinned by its digest"
    );
    stop_server(&pair.app).await;
    launchers.set_launcher_script(&registry(&digest("b")));
    let request = request_start(&pair.app).await;
    let (_, shown) = displayed_package(&request);
    let digests = (shown.before.as_ref().unwrap().integrity.clone(), shown.found.as_ref().unwrap().integrity.clone());
    assert_eq!(digests, (Some(digest("a")), Some(digest("b"))), "{what}: both versions are shown");
    deny_start(&pair.app, &request).await;
    pair.close(what).await;
}
