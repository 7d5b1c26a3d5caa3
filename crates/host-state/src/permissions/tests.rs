//! Tests permissions: starting servers, reading from servers, rule files, and trust.

use domain::consent_request::{ConsentRequestId, ConsentRequestOrigin};
use mcp_proto::types::Tool;
use offers::review::ReviewFindings;
use ports::server_config::StdioConfig;

use super::*;

#[test]
fn start_without_a_rule_or_grant_requires_consent() {
    let permissions = Permissions::new(Grants::default(), DataFlowTable::default(), FolderShares::default());
    assert!(permissions.check_unaudited_read("s", 0).is_ok(), "the user's own request to read is allowed");
    assert!(!permissions.allows_start("s", &Hash::of_bytes(b"command"), 0), "a start requires consent");
    let config = StdioConfig { command: "server".to_owned(), ..StdioConfig::default() }.into();
    assert!(!permissions.denies_start("s", &config, 0), "a start is not denied without a rule");
}

#[test]
fn muted_server_can_be_started() {
    let mut permissions = Permissions::new(Grants::default(), DataFlowTable::default(), FolderShares::default());
    permissions.policy.mute_server("s");
    let config = StdioConfig { command: "server".to_owned(), ..StdioConfig::default() }.into();
    assert!(!permissions.denies_start("s", &config, 0), "muting doesn't affect starts");
}

fn permissions(grants: Grants) -> Permissions {
    Permissions::new(grants, DataFlowTable::default(), FolderShares::default())
}

#[test]
fn every_act_requires_consent_if_the_rules_file_is_unusable() {
    let mut permissions = permissions(Grants::default());
    permissions.rule_files.user.changed = Some(7);
    assert!(permissions.check_unaudited_read("s", 0).is_ok(), "without rules the user's own request is allowed");
    permissions.apply_user_rules(Err("it is no JSON".to_owned()), PathBuf::from("/policy.json"));
    assert!(permissions.check_unaudited_read("s", 0).is_err(), "with an invalid file everything requires consent");
    let file = &permissions.rules_view().user;
    assert_eq!(file.problem.as_deref(), Some("it is no JSON"), "the problem is reported");
    assert_eq!((file.exists, file.changed), (true, Some(7)), "the time of the last change is retained");
    permissions.apply_user_rules(Ok((false, PolicyFile::default())), PathBuf::from("/policy.json"));
    assert!(permissions.check_unaudited_read("s", 0).is_ok(), "a corrected file takes effect");
}

#[test]
fn expired_trust_is_not_in_effect() {
    let mut permissions = permissions(Grants::default());
    let rule = PolicyRule { id: 1, expires_at: Some(10), ..PolicyRule::for_trusted_server("s") };
    let file = PolicyFile { rules: vec![rule], ..PolicyFile::default() };
    permissions.apply_user_rules(Ok((true, file)), PathBuf::new());
    assert_eq!(permissions.server_trust_duration("s", 9), TrustDuration::Always, "trust is in effect until its expiry");
    assert_eq!(permissions.server_trust_duration("s", 10), TrustDuration::No, "expired trust is not in effect");
    assert_eq!(permissions.server_trust_duration("other", 9), TrustDuration::No, "trust applies to one server");
    permissions.policy.trust_until_quit("s").expect("a rule");
    assert_eq!(permissions.server_trust_duration("s", 10), TrustDuration::Run, "trust for the run is in effect");
}

#[test]
fn tool_grants_are_listed_until_they_expire() {
    let grant = |server: &str, subject, scope, expires_at| policy::Grant {
        id: policy::GrantId(0),
        server: server.to_owned(),
        subject,
        rests_on: Hash::of_bytes(b"definition"),
        scope,
        conversation: (scope == ApprovalScope::Conversation).then(|| "c".to_owned()),
        since: 0,
        expires_at,
        words: String::new(),
        last_use: None,
    };
    let tool = |name: &str| GrantSubject::Tool(name.to_owned());
    let mut grants = Grants::default();
    for grant in [
        grant("s", tool("stands"), ApprovalScope::Always, None),
        grant("s", tool("expires"), ApprovalScope::Session, Some(10)),
        grant("s", tool("of one conversation"), ApprovalScope::Conversation, None),
        grant("s", GrantSubject::Command, ApprovalScope::Always, None),
        grant("other", tool("other"), ApprovalScope::Always, None),
    ] {
        grants.add(grant).expect("there is room");
    }
    let permissions = permissions(grants);
    let granted = |at| {
        let mut names: Vec<String> = permissions.granted_tools("s", at).into_keys().collect();
        names.sort();
        names
    };
    assert_eq!(granted(9), ["expires", "stands"], "grants for this server in all conversations are returned");
    assert_eq!(granted(10), ["stands"], "expired grants are not returned");
}

/// Records an approved tool call by `origin`, and returns `true` if the user can then repeat the call. `forgotten` is
/// the value of [`ApprovedCalls::forget_count`] at the time of the approval.
fn is_approved_call_recorded(permissions: &mut Permissions, origin: Option<&CallOrigin>, forgotten: u64) -> bool {
    let body = ConsentRequestBody::Tool {
        tool: Box::new(Tool { name: "echo".to_owned(), ..Tool::default() }),
        app: None,
        arguments: Map::new(),
        changed_since_allowed: false,
        read_only: Vec::new(),
    };
    let request = ConsentRequestView {
        id: ConsentRequestId(1),
        hash: Hash::of_bytes(b"call"),
        server: "s".to_owned(),
        command_line: String::new(),
        transport: "stdio",
        asked_at: 0,
        origin: ConsentRequestOrigin::User { conversation: None },
        round: None,
        body,
        scopes: &[ApprovalScope::Once],
        reason: DecisionReason::ToolsAsk.name(),
        stricter_reason: None,
        marks: ReviewFindings::default(),
        call: Some("1".to_owned()),
    };
    let grant_hash = Hash::of_bytes(b"definition");
    permissions.record_approved_call(&request, origin, ApprovalScope::Once, &grant_hash, (1_000, forgotten));
    permissions.approved_calls.repeatable_until("1", 1_000).is_some()
}

#[test]
fn approved_call_is_not_stored_if_calls_were_forgotten_meanwhile() {
    let mut permissions = permissions(Grants::default());
    let (user, forgotten) = (CallOrigin::User { conversation: None }, permissions.approved_calls.forget_count());
    permissions.forget_approved_calls("s");
    assert!(
        !is_approved_call_recorded(&mut permissions, Some(&user), forgotten),
        "the user denied, muted or revoked meanwhile"
    );
    let forgotten = permissions.approved_calls.forget_count();
    permissions.approved_calls.clear();
    assert!(!is_approved_call_recorded(&mut permissions, Some(&user), forgotten), "the rules changed meanwhile");
    let forgotten = permissions.approved_calls.forget_count();
    assert!(is_approved_call_recorded(&mut permissions, Some(&user), forgotten), "nothing was forgotten");
}

#[test]
fn only_calls_by_the_user_in_the_window_become_repeatable() {
    let mut permissions = permissions(Grants::default());
    let app = CallOrigin::App { conversation: None, tool: "t".to_owned(), reaches_other_hosts: false };
    let model = CallOrigin::Model { conversation: "c".to_owned() };
    for origin in [None, Some(&CallOrigin::CommandLine), Some(&app), Some(&model)] {
        assert!(!is_approved_call_recorded(&mut permissions, origin, 0), "no call of another origin is noted");
    }
    assert!(
        is_approved_call_recorded(&mut permissions, Some(&CallOrigin::User { conversation: None }), 0),
        "a call of the user"
    );
}

#[test]
fn only_newly_read_untrusted_content_requires_a_new_decision() {
    let mut permissions = permissions(Grants::default());
    permissions.record_read_content("c", &[]);
    assert_eq!(permissions.version, 0, "an empty list changes nothing");
    permissions.record_read_content("c", &[ReadContent::new("s", domain::history::ReadContentKind::Tool, "t")]);
    assert_eq!(permissions.version, 1, "newly read content requires a new decision");
    assert!(
        permissions.data_flow.labels.label("c").is_some_and(|label| label.read_contents.len() == 1),
        "the content is stored"
    );
}
