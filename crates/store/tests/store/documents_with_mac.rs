//! Tests of documents with a MAC with a keychain that hangs, is locked, or responds late.

mod keychain;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use keychain::{
    GatedKeychain, KEY_TIMEOUT, add_grant, folder_with_stored_grants, open_documents, poll_until, stored_grants,
};
use ports::{Document, DocumentMacState, Documents};
use serde_json::{Value, json};

/// Name of the keychain entry with the numbers of the latest documents.
const KEYCHAIN_MARK_NAME: &str = "sealed documents";

#[test]
fn s21_hanging_keychain_does_not_block_documents() {
    let keychain = Arc::default();
    let folder = folder_with_stored_grants(&keychain);
    keychain.set_blocked(true);
    let documents = open_documents(folder.path(), &keychain);
    // The gate stays closed, so the read returns without the keychain.
    assert_eq!(documents.read(Document::Grants).unwrap(), None, "an unchecked document is not used");
    assert!(!add_grant(&*documents), "an unchecked document is not overwritten");
    keychain.set_blocked(false);
    poll_until("the key is there", || documents.mac_state() == DocumentMacState::Ready);
    assert_eq!(
        documents.read(Document::Grants).unwrap(),
        Some(json!(["old"])),
        "the document is read once it can be checked"
    );
}

#[test]
fn s21_approval_during_key_setup_replaces_nothing() {
    let keychain = Arc::default();
    let folder = folder_with_stored_grants(&keychain);
    keychain.set_blocked(true);
    let documents = open_documents(folder.path(), &keychain);
    let _ = documents.update(Document::Grants, &mut |stored| {
        // The key becomes available between reading and writing.
        keychain.set_blocked(false);
        poll_until("the key is there", || documents.mac_state() == DocumentMacState::Ready);
        let mut stored = stored.unwrap_or_else(|| json!([]));
        stored.as_array_mut().unwrap().push(json!("new"));
        stored
    });
    assert_eq!(stored_grants(folder.path()), json!(["old"]), "a withheld document is not overwritten");
    keychain.set_blocked(false);
    poll_until("the key is there", || documents.mac_state() == DocumentMacState::Ready);
    assert!(add_grant(&*documents), "the write succeeds once the key is available");
    assert_eq!(stored_grants(folder.path()), json!(["old", "new"]), "the approval is added to the existing ones");
}

#[test]
fn s21_dismissed_prompt_withholds_approvals_until_the_next_approval() {
    let keychain: Arc<GatedKeychain> = Arc::default();
    let folder = folder_with_stored_grants(&keychain);
    keychain.set_locked(true);
    let documents = open_documents(folder.path(), &keychain);
    documents.request_mac_key(KEY_TIMEOUT);
    assert!(matches!(documents.mac_state(), DocumentMacState::Unavailable { .. }), "the prompt was dismissed");
    keychain.set_locked(false);
    let (sender, mut changed) = tokio::sync::mpsc::channel(1);
    documents.watch(Document::Grants, sender);
    // The automatic retry, some minutes later, is not due yet.
    poll_until("an approval makes the keychain be asked again", || add_grant(&*documents));
    assert!(changed.blocking_recv().is_some(), "the host is notified");
    let all = stored_grants(folder.path());
    assert_eq!(all[0], "old", "the withheld approval is valid again: {all}");
}

#[cfg(target_os = "linux")]
#[test]
fn s21_hanging_keychain_occupies_few_threads() {
    let keychain = Arc::default();
    let folder = folder_with_stored_grants(&keychain);
    let documents = open_documents(folder.path(), &keychain);
    documents.request_mac_key(KEY_TIMEOUT);
    keychain.set_blocked(true);
    for _ in 0..20 {
        assert!(add_grant(&*documents), "the file is written");
    }
    let named = |task: &std::fs::DirEntry| {
        std::fs::read_to_string(task.path().join("comm")).is_ok_and(|name| name.trim() == "document mark")
    };
    let tasks = std::fs::read_dir("/proc/self/task").unwrap().flatten();
    let waiting = tasks.filter(named).count();
    // Other tests run concurrently in this process, so the count has a margin.
    assert!(waiting <= 4, "fewer waiting threads than writes: {waiting}");
    keychain.set_blocked(false);
    let knows = || keychain.marks.lock().unwrap()[KEYCHAIN_MARK_NAME].contains("grants.json 21");
    poll_until("the keychain knows the latest", knows);
}

#[test]
fn s21_documents_of_another_computer_get_new_macs_once() {
    let folder = folder_with_stored_grants(&Arc::default());
    let before = std::fs::read(folder.path().join("data/grants.json")).unwrap();
    let keychain: Arc<GatedKeychain> = Arc::default();
    let documents = open_documents(folder.path(), &keychain);
    documents.request_mac_key(KEY_TIMEOUT);
    poll_until("the key is there", || documents.mac_state() == DocumentMacState::Ready);
    assert_eq!(
        documents.read(Document::Grants).unwrap(),
        Some(json!(["old"])),
        "a document without a valid MAC is used if the key has made none yet"
    );
    assert_eq!(documents.take_newly_authenticated(), Some(vec!["grants.json".to_owned()]), "the document is reported");
    poll_until("the keychain knows of it", || keychain.marks.lock().unwrap().contains_key(KEYCHAIN_MARK_NAME));
    std::fs::write(folder.path().join("data/grants.json"), before).unwrap();
    let documents = open_documents(folder.path(), &keychain);
    documents.request_mac_key(KEY_TIMEOUT);
    assert_eq!(documents.read(Document::Grants).unwrap(), None, "an unsealed document is not used a second time");
    assert!(documents.take_refusal(Document::Grants).is_some(), "the refused document is reported");
}

#[test]
fn s21_removed_document_with_a_mac_is_reported() {
    let keychain = Arc::default();
    let folder = folder_with_stored_grants(&keychain);
    std::fs::remove_file(folder.path().join("data/grants.json")).unwrap();
    let documents = open_documents(folder.path(), &keychain);
    documents.request_mac_key(KEY_TIMEOUT);
    assert_eq!(documents.read(Document::Grants).unwrap(), None, "there is no document to use");
    let refused = documents.take_refusal(Document::Grants).expect("the refusal is reported");
    assert!(refused.cause.contains("removed"), "the document is reported as removed: {}", refused.cause);
    assert_eq!(documents.read(Document::Grants).unwrap(), None);
    assert_eq!(documents.take_refusal(Document::Grants), None, "the refusal is reported once");
    assert_eq!(documents.read(Document::Roots).unwrap(), None);
    assert_eq!(documents.take_refusal(Document::Roots), None, "a document that never existed is not reported");
    assert!(add_grant(&*documents), "the user can approve again");
    assert_eq!(documents.read(Document::Grants).unwrap(), Some(json!(["new"])));
}

/// Writes two states of a document, one after the other, and returns the bytes that the document's file then has for
/// each.
fn write_two_states(documents: &dyn Documents, folder: &Path, name: Document, states: [Value; 2]) -> [Vec<u8>; 2] {
    states.map(|state| {
        documents.write(name, &state).unwrap();
        std::fs::read(folder.join("data").join(name.file_name())).unwrap()
    })
}

/// Reads the document in a new instance of the store. Also returns `true` if that instance refused the file because of
/// its seal.
fn reopen_and_read(folder: &Path, keychain: &Arc<GatedKeychain>, name: Document) -> (Option<Value>, bool) {
    let documents = open_documents(folder, keychain);
    documents.request_mac_key(KEY_TIMEOUT);
    let read = documents.read(name).unwrap();
    (read, documents.take_refusal(name).is_some())
}

#[test]
fn s21_older_copy_is_rejected_once_a_newer_one_is_written() {
    let keychain: Arc<GatedKeychain> = Arc::default();
    let folder = folder_with_stored_grants(&keychain);
    let documents = open_documents(folder.path(), &keychain);
    documents.request_mac_key(KEY_TIMEOUT);
    keychain.delay.store(150, Ordering::SeqCst);
    let [older, _] =
        write_two_states(&*documents, folder.path(), Document::Grants, [json!(["allowed"]), json!(["revoked"])]);
    // State after the process is killed at this point.
    let knows = keychain.marks.lock().unwrap()[KEYCHAIN_MARK_NAME].contains("grants.json 3");
    assert!(knows, "the keychain has the mark once the file is written");
    std::fs::write(folder.path().join("data/grants.json"), older).unwrap();
    assert_eq!(reopen_and_read(folder.path(), &keychain, Document::Grants), (None, true), "an older copy is not used");
}

#[test]
fn s21_kill_before_the_file_is_written_loses_nothing() {
    let keychain: Arc<GatedKeychain> = Arc::default();
    let folder = folder_with_stored_grants(&keychain);
    let documents = open_documents(folder.path(), &keychain);
    documents.request_mac_key(KEY_TIMEOUT);
    let [older, newer] =
        write_two_states(&*documents, folder.path(), Document::Grants, [json!(["older"]), json!(["newer"])]);
    let (file, next) = (folder.path().join("data/grants.json"), folder.path().join("data/grants.json.next"));
    assert!(!next.exists(), "no other file is left");
    // State in which the file is older than the mark in the keychain.
    std::fs::write(&file, &older).unwrap();
    std::fs::write(&next, &newer).unwrap();
    let read = reopen_and_read(folder.path(), &keychain, Document::Grants);
    assert_eq!(read, (Some(json!(["newer"])), false), "the newer file must be used");
    assert_eq!(
        (std::fs::read(&file).unwrap(), next.exists()),
        (newer.clone(), false),
        "the newer file must be moved into place"
    );
    // The same for the first write, before which there is no file.
    std::fs::rename(&file, &next).unwrap();
    let read = reopen_and_read(folder.path(), &keychain, Document::Grants);
    assert_eq!(read, (Some(json!(["newer"])), false), "the document is not reported as removed");
    assert_eq!(
        (std::fs::read(&file).unwrap(), next.exists()),
        (newer, false),
        "the newer file must be moved into place"
    );
    std::fs::write(&file, &older).unwrap();
    std::fs::write(&next, &older).unwrap();
    assert_eq!(
        reopen_and_read(folder.path(), &keychain, Document::Grants),
        (None, true),
        "an older file must not be used in its place"
    );
}

#[test]
fn s21_disabled_sampling_is_not_restored_by_an_old_file() {
    let keychain: Arc<GatedKeychain> = Arc::default();
    let folder = folder_with_stored_grants(&keychain);
    let documents = open_documents(folder.path(), &keychain);
    documents.request_mac_key(KEY_TIMEOUT);
    let state = |on: bool, used: u64| json!({"demo": {"on": on, "spent": {"inAll": {"requests": used}}}});
    let name = Document::Sampling;
    let [on, off] = write_two_states(&*documents, folder.path(), name, [state(true, 0), state(false, 0)]);
    drop(documents);
    std::fs::write(folder.path().join("data/sampling.json"), on).unwrap();
    assert_eq!(
        reopen_and_read(folder.path(), &keychain, name),
        (None, true),
        "a setting that was turned off is not restored"
    );
    std::fs::write(folder.path().join("data/sampling.json"), off).unwrap();
    assert_eq!(
        reopen_and_read(folder.path(), &keychain, name),
        (Some(state(false, 0)), false),
        "the latest file must be used"
    );
}

#[test]
fn s21_usage_is_retained_with_few_keychain_updates() {
    let keychain: Arc<GatedKeychain> = Arc::default();
    let folder = folder_with_stored_grants(&keychain);
    let state = |used: u64| json!({"demo": {"on": true, "spent": {"inAll": {"requests": used}}}});
    let name = Document::Sampling;
    let documents = open_documents(folder.path(), &keychain);
    documents.request_mac_key(KEY_TIMEOUT);
    documents.write(name, &state(0)).unwrap();
    let fresh = std::fs::read(folder.path().join("data/sampling.json")).unwrap();
    drop(documents);
    let documents = open_documents(folder.path(), &keychain);
    documents.request_mac_key(KEY_TIMEOUT);
    let before = keychain.mark_count();
    for used in 1..=20 {
        documents.write(name, &state(used)).unwrap();
    }
    assert_eq!(keychain.mark_count(), before + 1, "only one mark must be stored within the interval");
    drop(documents);
    assert_eq!(
        reopen_and_read(folder.path(), &keychain, name),
        (Some(state(20)), false),
        "the latest file must be used"
    );
    std::fs::write(folder.path().join("data/sampling.json"), fresh).unwrap();
    assert_eq!(
        reopen_and_read(folder.path(), &keychain, name),
        (None, true),
        "a file that an earlier run left is not used"
    );
}

/// Moves the file at `place` away and puts a folder in its place, so that the file can't be replaced. Returns the path
/// to which the file was moved.
fn replace_with_folder(place: &Path) -> PathBuf {
    let away = place.with_extension("away");
    if place.exists() {
        std::fs::rename(place, &away).unwrap();
    }
    std::fs::create_dir_all(place.join("full")).unwrap();
    away
}

/// Removes the folder at `place`, and moves the file back from `away` if there was one.
fn restore_file(place: &Path, away: &Path) {
    std::fs::remove_dir_all(place).unwrap();
    if away.exists() {
        std::fs::rename(away, place).unwrap();
    }
}

#[test]
fn s21_failed_change_does_not_apply_after_a_restart() {
    for (name, keeps_file) in [(Document::Grants, true), (Document::Grants, false), (Document::Roots, true)] {
        let keychain = Arc::default();
        let folder = folder_with_stored_grants(&keychain);
        let documents = open_documents(folder.path(), &keychain);
        documents.request_mac_key(KEY_TIMEOUT);
        let place = folder.path().join("data").join(name.file_name());
        let away = place.with_extension("away");
        let changed = documents.update(name, &mut |_| {
            replace_with_folder(&place);
            json!(["failed"])
        });
        changed.expect_err("nothing can replace the folder");
        drop(documents);
        if !keeps_file {
            let _ = std::fs::remove_file(&away);
        }
        restore_file(&place, &away);
        let former = (name == Document::Grants).then(|| json!(["old"]));
        let read = reopen_and_read(folder.path(), &keychain, name);
        assert_eq!(read, (former.clone(), false), "the former document is valid: {name:?}, {keeps_file}");
        assert_eq!(
            reopen_and_read(folder.path(), &keychain, name),
            (former, false),
            "the former document is valid at the next start"
        );
        let documents = open_documents(folder.path(), &keychain);
        documents.request_mac_key(KEY_TIMEOUT);
        documents.write(name, &json!(["later"])).unwrap();
        let read = reopen_and_read(folder.path(), &keychain, name);
        assert_eq!(read, (Some(json!(["later"])), false), "the document can be changed");
    }
}

/// Tries to change a document whose file can't be replaced, and asserts that the change fails.
fn assert_change_fails(documents: &dyn Documents, name: Document, place: &Path, value: &Value) {
    let changed = documents.update(name, &mut |_| {
        replace_with_folder(place);
        value.clone()
    });
    changed.expect_err("nothing can replace the folder");
    restore_file(place, &place.with_extension("away"));
}

#[test]
fn s21_external_change_after_a_rolled_back_one_applies() {
    for keeps_next in [true, false] {
        let keychain = Arc::default();
        let folder = folder_with_stored_grants(&keychain);
        let [first, second] = [(); 2].map(|()| open_documents(folder.path(), &keychain));
        first.request_mac_key(KEY_TIMEOUT);
        second.request_mac_key(KEY_TIMEOUT);
        let place = folder.path().join("data/grants.json");
        assert_change_fails(&*first, Document::Grants, &place, &json!(["failed"]));
        if !keeps_next {
            std::fs::remove_file(place.with_extension("json.next")).unwrap();
        }
        assert!(add_grant(&*second), "the other instance approves: {keeps_next}");
        let read = reopen_and_read(folder.path(), &keychain, Document::Grants);
        assert_eq!(
            read,
            (Some(json!(["old", "new"])), false),
            "the document of the other instance is used: {keeps_next}"
        );
    }
}

#[test]
fn s21_rollback_holds_the_lock_for_a_bounded_time() {
    let keychain: Arc<GatedKeychain> = Arc::default();
    let folder = folder_with_stored_grants(&keychain);
    let documents = open_documents(folder.path(), &keychain);
    documents.request_mac_key(KEY_TIMEOUT);
    let delay = Duration::from_millis(1_900);
    keychain.delay.store(delay.as_millis() as u64, Ordering::SeqCst);
    // The duration matters: other instances give up waiting for the lock after three seconds.
    let start = Instant::now();
    assert_change_fails(&*documents, Document::Grants, &folder.path().join("data/grants.json"), &json!(["failed"]));
    let took = start.elapsed();
    assert!(took < 2 * delay, "both waits for the keychain share one time limit: {took:?}");
    let knows = || keychain.marks.lock().unwrap()[KEYCHAIN_MARK_NAME].contains("grants.json 3");
    poll_until("the keychain learns of it later", knows);
    let read = reopen_and_read(folder.path(), &keychain, Document::Grants);
    assert_eq!(read, (Some(json!(["old"])), false), "the former document is valid");
}

#[test]
fn s21_usage_counts_do_not_hide_a_failed_change_from_the_keychain() {
    let state = |used: u64| json!({"demo": {"on": true, "spent": {"inAll": {"requests": used}}}});
    let name = Document::Sampling;
    for counts_elsewhere in [false, true] {
        let keychain: Arc<GatedKeychain> = Arc::default();
        let folder = folder_with_stored_grants(&keychain);
        let [first, second] = [(); 2].map(|()| open_documents(folder.path(), &keychain));
        first.request_mac_key(KEY_TIMEOUT);
        second.request_mac_key(KEY_TIMEOUT);
        second.write(name, &state(0)).unwrap();
        let place = folder.path().join("data/sampling.json");
        assert_change_fails(&*first, name, &place, &state(1));
        let before = keychain.mark_count();
        if counts_elsewhere {
            // The mark was stored a moment ago, so a change of usage counts is not stored again.
            second.write(name, &state(2)).unwrap();
            assert_eq!(keychain.mark_count(), before, "no second mark is stored");
        } else {
            first.write(name, &state(2)).unwrap();
            assert_eq!(keychain.mark_count(), before + 1, "a mark is stored because the change before failed");
        }
        std::fs::remove_file(&place).unwrap();
        let read = reopen_and_read(folder.path(), &keychain, name);
        assert_eq!(read, (None, true), "an older file is not used in its place: {counts_elsewhere}");
    }
}

#[test]
fn s21_failed_rollback_reports_that_the_change_may_apply() {
    let keychain: Arc<GatedKeychain> = Arc::default();
    let folder = folder_with_stored_grants(&keychain);
    let documents = open_documents(folder.path(), &keychain);
    documents.request_mac_key(KEY_TIMEOUT);
    let place = folder.path().join("data/grants.json");
    let next = folder.path().join("data/grants.json.next");
    *keychain.run_at_next_mark.lock().unwrap() = Some(Box::new(move || {
        replace_with_folder(&next);
    }));
    let changed = documents.update(Document::Grants, &mut |_| {
        replace_with_folder(&place);
        json!(["failed"])
    });
    let error = changed.expect_err("nothing can replace the folder");
    assert!(
        error.cause.contains("may still apply after a restart"),
        "the error must say that the change may still take effect: {error}"
    );
}

#[cfg(unix)]
#[test]
fn s21_document_behind_a_link_is_replaced_at_its_target() {
    use std::os::unix::fs::PermissionsExt as _;

    // `/dev/shm` is another file system on Linux.
    for elsewhere in [std::env::temp_dir(), PathBuf::from("/dev/shm")].iter().filter(|folder| folder.is_dir()) {
        let keychain = Arc::default();
        let folder = folder_with_stored_grants(&keychain);
        let elsewhere = tempfile::tempdir_in(elsewhere).unwrap();
        let (place, target) = (folder.path().join("data/grants.json"), elsewhere.path().join("own.json"));
        std::fs::copy(&place, &target).unwrap();
        std::fs::set_permissions(&target, std::fs::Permissions::from_mode(0o640)).unwrap();
        std::fs::remove_file(&place).unwrap();
        std::os::unix::fs::symlink(&target, &place).unwrap();
        let documents = open_documents(folder.path(), &keychain);
        documents.request_mac_key(KEY_TIMEOUT);
        assert!(add_grant(&*documents), "the document is changed");
        assert!(place.is_symlink(), "the link stays");
        assert_eq!(stored_grants(folder.path()), json!(["old", "new"]), "the target of the link is written");
        let mode = target.metadata().unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o640, "the permissions are unchanged");
        assert!(!place.with_extension("json.next").exists(), "no other file is left");
        assert_eq!(reopen_and_read(folder.path(), &keychain, Document::Grants), (Some(json!(["old", "new"])), false));
    }
}
