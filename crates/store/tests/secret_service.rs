//! Tests of the secrets with a real Secret Service: GNOME Keyring on a separate message bus. Skipped with a message
//! where `dbus-run-session` or `gnome-keyring-daemon` is not installed.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::print_stderr, missing_docs)]

use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use ports::{SecretPersistence, Secrets, SecretsStatus};

/// Environment variable with the name of the role that a child process of this test plays.
const ROLE_VARIABLE: &str = "DRAWBRIDGE_TEST_PART";
/// Environment variable with the data folder of the child process.
const FOLDER_VARIABLE: &str = "DRAWBRIDGE_TEST_FOLDER";
/// Configuration of a message bus that starts no services on demand.
const BUS_CONFIG: &str = "<busconfig><type>session</type><listen>unix:tmpdir=/tmp</listen><policy context=\"default\">\
    <allow send_destination=\"*\" eavesdrop=\"true\"/><allow eavesdrop=\"true\"/><allow own=\"*\"/></policy></busconfig>";
/// Time limit for every wait in the tests of this file.
const WAIT_TIMEOUT: Duration = Duration::from_secs(60);

/// Shell function that starts the keychain, and waits until it is on the bus. The daemon runs in the foreground, so
/// that it ends with the script, however the test ends.
const KEYCHAIN_FUNCTION: &str = "keychain() { \
    gnome-keyring-daemon --foreground --unlock --components=secrets < <(printf $1) > /dev/null 2>&1 & \
    keychain=$!; trap 'kill -9 $keychain 2> /dev/null; wait $keychain 2> /dev/null' EXIT; \
    for i in $(seq 600); do dbus-send --session --print-reply --dest=org.freedesktop.DBus / \
    org.freedesktop.DBus.NameHasOwner string:org.freedesktop.secrets 2> /dev/null | grep -q true && return; \
    sleep 0.05; done; }";
const START_UNLOCKED_KEYCHAIN: &str = "keychain test";
/// Shell command that starts the keychain with a password that does not unlock the existing keyring.
const START_LOCKED_KEYCHAIN: &str = "keychain wrong";

fn open_secrets(folder: &Path) -> Arc<dyn Secrets> {
    let platform = Arc::new(store::FileBackedPlatform::new(folder));
    store::open(&folder.join("mcp.json"), folder, platform).unwrap().secrets
}

#[allow(clippy::disallowed_methods, reason = "asks whether two programs are there")]
fn is_installed(program: &str) -> bool {
    let tried = Command::new(program).arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status();
    tried.is_ok_and(|status| status.success())
}

/// Returns `true` if all programs that these tests require are installed, and otherwise prints which one is missing.
fn has_required_programs() -> bool {
    let missing = ["dbus-run-session", "gnome-keyring-daemon"].into_iter().find(|program| !is_installed(program));
    if let Some(program) = missing {
        eprintln!("SKIPPED: {program} is not installed; `cargo xtask test` installs it");
    }
    missing.is_none()
}

/// Runs a script on a separate message bus with this home folder. `$ME ROLE` in the script runs this test binary in a
/// role.
#[allow(clippy::disallowed_methods, reason = "starts the message bus with the real keychain")]
fn start_script(home: &Path, test: &str, script: &str) -> Child {
    let me = std::env::current_exe().unwrap();
    let runtime = home.join("run");
    std::fs::create_dir_all(&runtime).unwrap();
    let script = format!(
        "me() {{ {ROLE_VARIABLE}=\"$1\" \"{}\" {test} --exact --nocapture; }}; {KEYCHAIN_FUNCTION}; {script}",
        me.display()
    );
    let config = home.join("bus.conf");
    std::fs::write(&config, BUS_CONFIG).unwrap();
    let mut command = Command::new("dbus-run-session");
    command.arg("--config-file").arg(&config).args(["--", "bash", "-c", &script]);
    command.env("HOME", home).env("XDG_RUNTIME_DIR", &runtime).env("XDG_DATA_HOME", home.join("data"));
    command.env(FOLDER_VARIABLE, home.join("drawbridge")).env_remove("DISPLAY").env_remove("WAYLAND_DISPLAY");
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
}

fn run_script(home: &Path, test: &str, script: &str) {
    let output: Output = start_script(home, test, script).wait_with_output().unwrap();
    let text = format!("{}\n{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{script}: {}\n{text}", output.status);
    assert!(!text.contains("top-secret"), "no secret must be printed");
}

/// Function that a child process of this test runs in its role.
type RoleFunction = fn(&dyn Secrets);

/// Runs the function of the role in which this process was started. Returns `false` if it was started without a role.
fn run_role(parts: &[(&str, RoleFunction)]) -> bool {
    let Ok(part) = std::env::var(ROLE_VARIABLE) else { return false };
    let folder = std::env::var_os(FOLDER_VARIABLE).unwrap();
    let (_, play) = parts.iter().find(|(name, _)| *name == part).expect("the role exists");
    play(open_secrets(Path::new(&folder)).as_ref());
    true
}

fn is_persistent(persistence: &SecretPersistence) -> bool {
    *persistence == SecretPersistence::Keychain
}

fn assert_secret_is_stored(secrets: &dyn Secrets) {
    assert_eq!(secrets.status(), SecretsStatus::Keychain, "an unlocked keychain works");
    let persistence = secrets.set("a", "top-secret").unwrap();
    assert!(is_persistent(&persistence), "the keychain stores the key: {persistence:?}");
    assert_eq!(secrets.get("a").unwrap().as_deref(), Some("top-secret"), "the secret is read back");
}

fn assert_secret_is_read(secrets: &dyn Secrets) {
    assert_eq!(secrets.get("a").unwrap().as_deref(), Some("top-secret"), "the next run reads the secret");
    assert_eq!(secrets.status(), SecretsStatus::Keychain, "the keychain works");
}

fn assert_keychain_is_locked(secrets: &dyn Secrets) {
    let status = secrets.status();
    assert!(matches!(status, SecretsStatus::Locked { .. }), "a locked keychain is reported as locked: {status:?}");
    assert!(secrets.get("a").is_err(), "the stored secret can't be read");
    assert!(!is_persistent(&secrets.set("a", "new").unwrap()), "no secret is stored permanently");
}

#[test]
fn secrets_survive_a_locked_keychain() {
    if run_role(&[
        ("keeps", assert_secret_is_stored),
        ("finds", assert_secret_is_read),
        ("is-refused", assert_keychain_is_locked),
    ]) || !has_required_programs()
    {
        return;
    }
    let home = tempfile::tempdir().unwrap();
    let test = "secrets_survive_a_locked_keychain";
    run_script(home.path(), test, &format!("{START_UNLOCKED_KEYCHAIN}; me keeps && me finds"));
    let file = home.path().join("drawbridge/secrets.json");
    let before = std::fs::read(&file).expect("the secrets have a file");
    run_script(home.path(), test, &format!("{START_LOCKED_KEYCHAIN}; me is-refused"));
    assert_eq!(std::fs::read(&file).unwrap(), before, "a locked keychain changes nothing");
    run_script(home.path(), test, &format!("{START_UNLOCKED_KEYCHAIN}; me finds"));
}

#[test]
fn secrets_are_temporary_without_a_keychain() {
    fn assert_secret_is_stored_for_this_run_only(secrets: &dyn Secrets) {
        let status = secrets.status();
        assert!(
            matches!(status, SecretsStatus::Missing { .. }),
            "a missing keychain is reported as missing: {status:?}"
        );
        let persistence = secrets.set("a", "top-secret").unwrap();
        assert!(!is_persistent(&persistence), "the secret is stored for this run only: {persistence:?}");
        assert_eq!(secrets.get("a").unwrap().as_deref(), Some("top-secret"), "the secret can be read in this run");
    }
    if run_role(&[("lives-for-the-run", assert_secret_is_stored_for_this_run_only)]) || !has_required_programs() {
        return;
    }
    let home = tempfile::tempdir().unwrap();
    let test = "secrets_are_temporary_without_a_keychain";
    // First without any message bus, then with a bus that has no keychain.
    run_script(home.path(), test, "export DBUS_SESSION_BUS_ADDRESS=unix:path=/nowhere; me lives-for-the-run");
    run_script(home.path(), test, "me lives-for-the-run");
    assert!(!home.path().join("drawbridge/secrets.json").exists(), "no file is written");
}

#[test]
fn keychain_started_later_is_used() {
    fn assert_secret_is_stored_once_keychain_is_available(secrets: &dyn Secrets) {
        assert!(!is_persistent(&secrets.set("a", "top-secret").unwrap()), "there is no keychain yet");
        let folder = std::env::var_os(FOLDER_VARIABLE).unwrap();
        std::fs::write(Path::new(&folder).join("go"), "").unwrap();
        let until = Instant::now() + WAIT_TIMEOUT;
        while !is_persistent(&secrets.set("b", "top-secret-2").unwrap()) {
            assert!(Instant::now() < until, "the started keychain is used: {:?}", secrets.status());
            // sleep: polls, since no event reports the change.
            std::thread::sleep(Duration::from_millis(100));
        }
        // The parent process kills the keychain and starts it again.
        std::fs::write(Path::new(&folder).join("kill"), "").unwrap();
        let until = Instant::now() + WAIT_TIMEOUT;
        while !Path::new(&folder).join("killed").exists() {
            assert!(Instant::now() < until, "the keychain is killed");
            // sleep: polls, since no event reports the change.
            std::thread::sleep(Duration::from_millis(50));
        }
        assert_eq!(
            secrets.get("b").unwrap().as_deref(),
            Some("top-secret-2"),
            "a run that has the key still reads secrets"
        );
        assert!(
            is_persistent(&secrets.set("c", "top-secret-3").unwrap()),
            "a run that has the key still stores secrets"
        );
    }
    fn assert_all_secrets_are_found(secrets: &dyn Secrets) {
        for (name, secret) in [("a", "top-secret"), ("b", "top-secret-2"), ("c", "top-secret-3")] {
            assert_eq!(secrets.get(name).unwrap().as_deref(), Some(secret), "the next run reads {name}");
        }
    }
    if run_role(&[
        ("keeps-when-it-comes", assert_secret_is_stored_once_keychain_is_available),
        ("finds-all", assert_all_secrets_are_found),
    ]) || !has_required_programs()
    {
        return;
    }
    let home = tempfile::tempdir().unwrap();
    let test = "keychain_started_later_is_used";
    let folder = home.path().join("drawbridge");
    let script = format!(
        "me keeps-when-it-comes & part=$!; cd {}; \
         wait_for() {{ for i in $(seq 600); do [ -e $1 ] && return; sleep 0.1; done; }}; \
         wait_for go; {START_UNLOCKED_KEYCHAIN}; wait_for kill; kill -9 $keychain; touch killed; wait $part",
        folder.display()
    );
    std::fs::create_dir_all(&folder).unwrap();
    run_script(home.path(), test, &script);
    run_script(home.path(), test, &format!("{START_UNLOCKED_KEYCHAIN}; me finds-all"));
}

#[test]
fn concurrent_and_killed_processes_lose_no_secret() {
    fn write_many_secrets(secrets: &dyn Secrets) {
        let me = std::process::id();
        for number in 0..20 {
            let name = format!("{me}-{number}");
            assert!(
                is_persistent(&secrets.set(&name, &format!("top-secret {name}")).unwrap()),
                "the secret is stored: {name}"
            );
            // A secret that was reported as stored must be readable later, even if this process is killed.
            let folder = std::env::var_os(FOLDER_VARIABLE).unwrap();
            std::fs::write(Path::new(&folder).join(format!("kept-{name}")), "").unwrap();
        }
    }
    fn assert_stored_secret_is_found(secrets: &dyn Secrets) {
        let folder = std::env::var_os(FOLDER_VARIABLE).unwrap();
        let names = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name());
        let names: Vec<String> =
            names.filter_map(|name| name.to_str()?.strip_prefix("kept-").map(str::to_owned)).collect();
        assert!(
            names.len() >= 41,
            "two processes wrote all their secrets and the killed one wrote some: {}",
            names.len()
        );
        for name in names {
            let found = secrets.get(&name).unwrap();
            assert_eq!(found, Some(format!("top-secret {name}")), "the stored secret is found: {name}");
        }
    }
    if run_role(&[("writes", write_many_secrets), ("finds-what-was-kept", assert_stored_secret_is_found)])
        || !has_required_programs()
    {
        return;
    }
    let home = tempfile::tempdir().unwrap();
    let test = "concurrent_and_killed_processes_lose_no_secret";
    let me = std::env::current_exe().unwrap();
    // The third process is killed as soon as it has stored something, however long it waits for the others.
    let script = format!(
        "{START_UNLOCKED_KEYCHAIN}; me writes & one=$!; me writes & two=$!; \
         env {ROLE_VARIABLE}=writes {} {test} --exact & three=$!; \
         has_kept() {{ for i in $(seq 6000); do ls {}/kept-$1-* > /dev/null 2>&1 && return; sleep 0.01; done; \
         echo nothing was kept in a minute; false; }}; \
         has_kept $three; kept=$?; kill -9 $three; wait $one && wait $two && [ $kept = 0 ] && me finds-what-was-kept",
        me.display(),
        home.path().join("drawbridge").display()
    );
    run_script(home.path(), test, &script);
}
