//! Tests of the extent of entries in an answers file, and of the messages about missing conditions.

use api::data::{
    ApprovalScope, DefinitionChange, DefinitionDiff, Flag, FlagReason, ReadContent, ReadContentKind, ReviewState,
    StricterReason, ToolClaims, UrlParts,
};
use serde_json::json;

use super::entry_conditions::MissingCondition;
use super::*;

/// Returns a consent request for the user's call of a tool whose definition is reviewed.
fn tool_request(server: &str, tool: &str) -> ConsentRequest {
    let body = ConsentRequestBody::Tool {
        tool: tool.into(),
        app: None,
        title: None,
        description: None,
        claims: ToolClaims::default(),
        input_schema: json!({}),
        arguments: json!({}),
        bytes: 2,
        changed_since_allowed: false,
        read_only_tools: Vec::new(),
        definition: None,
        reviewed_definition: None,
        definition_hash: Some("d".into()),
    };
    let mut request = consent_request(server, body, ConsentRequestOrigin::User { conversation: None });
    request.marks.review = Some(ReviewState::Reviewed);
    request
}

fn consent_request(server: &str, body: ConsentRequestBody, origin: ConsentRequestOrigin) -> ConsentRequest {
    ConsentRequest {
        call: None,
        round: None,
        id: "1".into(),
        hash: "h".into(),
        server: server.into(),
        transport: "stdio".into(),
        command_line: "npx -y pkg".into(),
        asked_at: 0,
        origin,
        body,
        scopes: vec![ApprovalScope::Once],
        reason: String::new(),
        stricter_reason: None,
        marks: Default::default(),
    }
}

fn start_request() -> ConsentRequest {
    let body = ConsentRequestBody::StartServer {
        package: None,
        command: "npx".into(),
        resolved: None,
        args: vec![],
        env: vec![],
        cwd: "/home/ann".into(),
        earlier_approval: None,
        sandbox: None,
        files: Vec::new(),
        writers: Vec::new(),
    };
    consent_request("any", body, ConsentRequestOrigin::Server)
}

fn parse_answers(file: serde_json::Value) -> AnswersFile {
    AnswersFile::parse(&file.to_string()).expect("the file is read")
}

#[test]
fn first_matching_entry_of_the_answers_file_decides() {
    let answers = parse_answers(json!([
        {"kind": "tool", "server": "files", "name": "delete_*", "answer": {"action": "deny"}},
        {"kind": "tool", "server": "files", "answer": {"action": "allow"}},
        {"kind": "tool", "name": "r?ad", "answer": {"action": "cancel"}},
    ]));
    let none = || Err(NoAnswerReason::NoEntryMatches(Vec::new()));
    let cases = [
        (tool_request("files", "delete_all"), Ok(AnswersFileDecision::Deny), "an earlier entry takes precedence"),
        (tool_request("files", "read"), Ok(AnswersFileDecision::Allow), "a missing name matches any name"),
        (tool_request("other", "read"), Ok(AnswersFileDecision::Cancel), "? is one character"),
        (tool_request("other", "read2"), none(), "a pattern matches the whole name"),
        (tool_request("Files", "delete_x"), none(), "case matters"),
    ];
    for (request, expected, why) in cases {
        assert_eq!(answers.find(&request).cloned(), expected, "{why}");
    }
}

#[test]
fn s08_start_is_allowed_by_its_hash_and_not_by_its_command_line() {
    let entry = |more: serde_json::Value| {
        let mut entry = json!({"kind": "start-server", "name": "npx *", "answer": {"action": "allow"}});
        entry.as_object_mut().unwrap().extend(more.as_object().cloned().unwrap());
        parse_answers(json!([entry]))
    };
    let why = entry(json!({}))
        .find(&start_request())
        .expect_err("the command line alone does not say what starts")
        .to_string();
    assert!(
        why.contains("\"hash\": \"h\"") && why.contains("\"commandLineOnly\": true"),
        "the message should contain the hash to write: {why}"
    );
    assert_eq!(
        entry(json!({"hash": "h"})).find(&start_request()),
        Ok(&AnswersFileDecision::Allow),
        "the hash should approve"
    );
    let why = entry(json!({"hash": "before"})).find(&start_request()).expect_err("another start").to_string();
    assert!(why.contains("another hash") && why.contains("\"hash\": \"h\""), "the other hash is reported: {why}");
    assert_eq!(
        entry(json!({"commandLineOnly": true})).find(&start_request()),
        Ok(&AnswersFileDecision::Allow),
        "`commandLineOnly` should approve by the command line"
    );
    let other = ConsentRequest { command_line: "node x".into(), ..start_request() };
    assert!(entry(json!({"commandLineOnly": true})).find(&other).is_err(), "the command line should match");
}

#[test]
fn s08_call_after_untrusted_content_requires_its_own_entry_option() {
    let model = |after: &[&str]| ConsentRequestOrigin::Model {
        conversation: "c".into(),
        untrusted_servers: after.iter().map(|&server| server.to_owned()).collect(),
        same_server_readings: Vec::new(),
    };
    let own = ReadContent::new("a", ReadContentKind::Tool, "fetch");
    let all = vec![ApprovalScope::Once, ApprovalScope::Conversation, ApprovalScope::Session, ApprovalScope::Always];
    let trusted = ConsentRequest {
        origin: model(&[]),
        scopes: all.clone(),
        reason: "tools-ask".into(),
        ..tool_request("a", "read")
    };
    let untrusted = ConsentRequest { origin: model(&["web"]), ..trusted.clone() };
    let unknown = ConsentRequest { scopes: vec![ApprovalScope::Once], ..trusted.clone() };
    let held = ConsentRequest { reason: "after-untrusted".into(), ..trusted.clone() };
    let same = ConsentRequestOrigin::Model {
        conversation: "c".into(),
        untrusted_servers: Vec::new(),
        same_server_readings: vec![own],
    };
    let same = ConsentRequest { origin: same, scopes: vec![ApprovalScope::Once], ..held.clone() };
    let plain = parse_answers(json!([{"kind": "tool", "answer": {"action": "allow"}}]));
    let hashed =
        parse_answers(json!([{"kind": "tool", "hash": "h", "unreviewed": true, "answer": {"action": "allow"}}]));
    let flagged = parse_answers(json!([{"kind": "tool", "afterUntrusted": true, "answer": {"action": "allow"}}]));
    assert_eq!(plain.find(&trusted), Ok(&AnswersFileDecision::Allow), "no untrusted content was read");
    let why = plain.find(&same).expect_err("S26: it is not covered").to_string();
    assert!(why.contains("the output of the tool fetch"), "S26: the message should name the content: {why}");
    for request in [&untrusted, &unknown, &held, &same] {
        for answers in [&plain, &hashed] {
            let why = answers.find(request).expect_err("it is not covered").to_string();
            assert!(why.contains("\"afterUntrusted\": true"), "the message should contain the flag to write: {why}");
        }
        assert_eq!(flagged.find(request), Ok(&AnswersFileDecision::Allow), "the flag should cover the call");
    }
}

/// Returns the decisions of the answers file on opening this URI, reading it, and identifying a client to it as an
/// issuer, in this order.
fn decisions_for_uri(answers: &AnswersFile, uri: &str) -> [Option<AnswersFileDecision>; 3] {
    let parts = || UrlParts {
        url: uri.into(),
        before: String::new(),
        domain: String::new(),
        after: String::new(),
        ascii_host: None,
        warnings: Vec::new(),
        openable: true,
    };
    let page = ConsentRequestBody::Url { message: String::new(), url: parts() };
    let resource = ConsentRequestBody::Read { call_kind: CallKind::Resource, name: uri.into(), arguments: json!({}) };
    let client = ConsentRequestBody::ClientId {
        url: parts(),
        issuer: uri.into(),
        issuer_url: parts(),
        redirect_uri: String::new(),
    };
    [page, resource, client]
        .map(|body| answers.find(&consent_request("any", body, ConsentRequestOrigin::Server)).ok().cloned())
}

/// Returns an answers file with one entry for each kind of consent request that [`decisions_for_uri`] makes, all with
/// this name pattern and action.
fn answers_for_uris(name: &str, action: &str) -> AnswersFile {
    let entry = |kind: &str| json!({"kind": kind, "name": name, "answer": {"action": action}});
    let mut client = entry("client-id");
    if action == "allow" {
        client["answer"]["content"] = json!({"clientId": "x"});
    }
    parse_answers(json!([entry("url"), entry("resource"), client]))
}

#[test]
fn s08_allowed_uri_pattern_matches_within_each_part() {
    for (name, uri, is_covered) in [
        ("https://*.example.com/*", "https://a.example.com/b", true),
        ("https://*.example.com/*", "https://attacker.test/x.example.com/y", false),
        ("https://*.example.com/*", "https://attacker.test/?x.example.com/y", false),
        ("https://*.example.com/*", "https://attacker.test/#x.example.com/y", false),
        ("file:///srv/*", "file:///srv/a", true),
        ("file:///srv/*", "file:///srv/../etc/shadow", false),
        ("file:///srv/*", "file:///srv/%2e%2e/etc/shadow", false),
    ] {
        let allowed = decisions_for_uri(&answers_for_uris(name, "allow"), uri).map(|verdict| verdict.is_some());
        assert_eq!(allowed, [is_covered; 3], "{name} and {uri}");
    }
}

#[test]
fn s08_denied_uri_pattern_covers_equivalent_spellings() {
    for (name, uri, is_covered) in [
        ("https://evil.test/*", "https://evil.test/x", true),
        ("https://evil.test/*", "https://evil.test./x", true),
        ("https://evil.test/*", "https://evil.test:8443/x", true),
        ("https://evil.test/*", "https://good.test/x", false),
        ("file:///srv/*", "file:///etc/../srv/a", true),
    ] {
        for action in ["decline", "cancel"] {
            let refused = decisions_for_uri(&answers_for_uris(name, action), uri).map(|verdict| verdict.is_some());
            assert_eq!(refused, [is_covered; 3], "{name} and {uri}");
        }
    }
}

#[test]
fn s30_allow_covers_reviewed_tools_without_marks_only() {
    let with = |change: fn(&mut ConsentRequest)| {
        let mut request = tool_request("files", "read");
        change(&mut request);
        request
    };
    let flag = || Flag { place: vec![], reason: FlagReason::InstructsModel, excerpt: String::new() };
    let new = with(|request| request.marks.review = Some(ReviewState::New));
    let unknown = with(|request| request.marks.review = None);
    let changed = with(|request| request.marks.review = Some(ReviewState::Changed));
    let outdated = with(|request| request.marks.outdated = true);
    let mut flagged = tool_request("files", "read");
    flagged.marks.flags.push(flag());
    let plain = parse_answers(json!([{"kind": "tool", "answer": {"action": "allow"}}]));
    let refused = parse_answers(json!([{"kind": "tool", "answer": {"action": "deny"}}]));
    let open = parse_answers(json!([{"kind": "tool", "unreviewed": true, "answer": {"action": "allow"}}]));
    let act = parse_answers(json!([{"kind": "tool", "hash": "h", "answer": {"action": "allow"}}]));
    let definition = parse_answers(json!([{"kind": "tool", "hash": "d", "answer": {"action": "allow"}}]));
    let later = parse_answers(json!([
        {"kind": "tool", "answer": {"action": "allow"}},
        {"kind": "tool", "hash": "d", "answer": {"action": "allow"}},
    ]));
    assert_eq!(
        plain.find(&tool_request("files", "read")),
        Ok(&AnswersFileDecision::Allow),
        "a reviewed tool should be covered"
    );
    for (what, request) in
        [("new", new), ("unknown", unknown), ("changed", changed), ("outdated", outdated), ("flagged", flagged)]
    {
        let why = plain.find(&request).expect_err(what).to_string();
        for words in ["\"hash\": \"d\"", "\"unreviewed\": true", "drawbridge-cli review files"] {
            assert!(why.contains(words), "{what}: expected {words} in {why}");
        }
        for answers in [&open, &act, &definition, &later] {
            assert_eq!(
                answers.find(&request),
                Ok(&AnswersFileDecision::Allow),
                "{what}: its hash or flag should approve it"
            );
        }
        assert_eq!(refused.find(&request), Ok(&AnswersFileDecision::Deny), "{what}: a denial has no conditions");
        let mut other = ConsentRequest { hash: "other".into(), ..request };
        if let ConsentRequestBody::Tool { definition_hash, .. } = &mut other.body {
            *definition_hash = Some("another".into());
        }
        assert!(
            matches!(act.find(&other), Err(NoAnswerReason::HashDiffers(_))),
            "{what}: another hash should be reported"
        );
    }
}

#[test]
fn call_under_an_ask_rule_is_allowed_by_its_payload_hash_only() {
    let request = ConsentRequest { stricter_reason: Some(StricterReason::Rule), ..tool_request("files", "read") };
    let by = |hash: &str| parse_answers(json!([{"kind": "tool", "hash": hash, "answer": {"action": "allow"}}]));
    let open = parse_answers(json!([{"kind": "tool", "unreviewed": true, "answer": {"action": "allow"}}]));
    let lack = || Err(NoAnswerReason::Uncovered(vec![MissingCondition::EachTime { hash: "h".into() }]));
    assert_eq!(open.find(&request).cloned(), lack(), "a pattern should not approve it");
    assert_eq!(by("d").find(&request).cloned(), lack(), "the definition's hash should not approve it");
    assert_eq!(by("h").find(&request), Ok(&AnswersFileDecision::Allow), "the payload's hash should approve it");
}

#[test]
fn call_of_an_always_asking_tool_is_allowed_by_its_payload_hash_only() {
    let claims = ToolClaims { asks_each_time: true, ..ToolClaims::default() };
    let by = |hash: &str| parse_answers(json!([{"kind": "tool", "hash": hash, "answer": {"action": "allow"}}]));
    let open = parse_answers(json!([{"kind": "tool", "unreviewed": true, "answer": {"action": "allow"}}]));
    let lack = || Err(NoAnswerReason::Uncovered(vec![MissingCondition::EachTime { hash: "h".into() }]));
    for reason in ["tool-asks-each-time", "new-tool", "tool-changed"] {
        let mut request = ConsentRequest { reason: reason.into(), ..tool_request("files", "pay") };
        if let ConsentRequestBody::Tool { claims: own, .. } = &mut request.body {
            *own = claims;
        }
        assert_eq!(open.find(&request).cloned(), lack(), "{reason}: a pattern should not approve it");
        assert_eq!(by("d").find(&request).cloned(), lack(), "{reason}: the definition's hash should not approve it");
        assert_eq!(
            by("h").find(&request),
            Ok(&AnswersFileDecision::Allow),
            "{reason}: the payload's hash should approve it"
        );
    }
}

#[test]
fn s32_refusal_describes_the_changed_definition() {
    let mut request = tool_request("files", "read");
    request.marks.review = Some(ReviewState::Changed);
    let change =
        |path: &str| DefinitionChange { path: vec!["inputSchema".into(), path.into()], before: None, after: None };
    let changes = ["a", "b", "c", "d"].map(change).to_vec();
    request.marks.diff =
        Some(DefinitionDiff { changes, more: 2, server_changed: false, is_truncated: false, before: None });
    let reason =
        "its definition changed since it was reviewed (inputSchema > a, inputSchema > b, inputSchema > c and 3 more)";
    for answers in [parse_answers(json!([])), parse_answers(json!([{"kind": "tool", "answer": {"action": "allow"}}]))] {
        let why = answers.find(&request).expect_err("it is refused").to_string();
        assert!(why.contains(reason) && why.contains("drawbridge-cli review files"), "{why}");
    }
    let words = describe_changed_tool(&request).expect("it changed");
    assert!(
        words.contains(reason) && words.contains("drawbridge-cli review files"),
        "the description should not depend on the file: {words}"
    );
    assert_eq!(
        describe_changed_tool(&tool_request("files", "read")),
        None,
        "an unchanged tool should have no description"
    );
}

#[test]
fn model_response_is_parsed_in_both_forms() {
    let cases = [
        (json!({"text": "hi"}), "answers", "endTurn"),
        (
            json!({"role": "assistant", "content": {"type": "text", "text": "hi"}, "model": "m", "stopReason": "s"}),
            "m",
            "s",
        ),
        (json!({"content": [{"type": "text", "text": "hi"}], "stopReason": null}), "answers", "endTurn"),
    ];
    for (content, model, stop) in cases {
        let file = json!([{"kind": "sampling", "answer": {"action": "accept", "content": content}}]).to_string();
        let answers = AnswersFile::parse(&file).expect("the file is read");
        let expected = SamplingResponse {
            content: vec![Content::Text { text: "hi".into() }],
            model: model.into(),
            stop_reason: Some(stop.into()),
        };
        assert_eq!(answers.entries[0].decision, AnswersFileDecision::Respond(expected), "what {file} says");
    }
}

#[test]
fn s27_flagged_result_is_allowed_by_its_hash_only() {
    let result = || {
        let body = ConsentRequestBody::Result { tool: "fetch".into(), app: None, content: Vec::new(), is_error: false };
        let origin = ConsentRequestOrigin::Model {
            conversation: "c".into(),
            untrusted_servers: Vec::new(),
            same_server_readings: Vec::new(),
        };
        ConsentRequest { reason: "result-review".into(), ..consent_request("web", body, origin) }
    };
    let mut wrong = result();
    wrong.marks.flags =
        vec![Flag { place: Vec::new(), reason: FlagReason::HidesFromUser, excerpt: "do not tell the user".into() }];
    let entry = |more: serde_json::Value| {
        let mut entry = json!({"kind": "result", "server": "web", "name": "fe*", "answer": {"action": "allow"}});
        entry.as_object_mut().unwrap().extend(more.as_object().cloned().unwrap());
        parse_answers(json!([entry]))
    };
    assert!(parse_answers(json!([])).find(&result()).is_err(), "S27: a result without an entry is withheld");
    let of_tools = parse_answers(json!([{"kind": "tool", "unreviewed": true, "answer": {"action": "allow"}}]));
    assert!(of_tools.find(&result()).is_err(), "S27: an entry for a call doesn't allow its result");
    assert_eq!(
        entry(json!({})).find(&result()),
        Ok(&AnswersFileDecision::Allow),
        "S27: a result without flags is allowed by its tool"
    );
    let why = entry(json!({})).find(&wrong).expect_err("S27: the result is flagged").to_string();
    assert!(
        why.contains("asks to hide something from you") && why.contains("\"hash\": \"h\""),
        "S27: the message contains what to write: {why}"
    );
    let unreviewed = json!([{"kind": "result", "unreviewed": true, "answer": {"action": "allow"}}]).to_string();
    assert!(AnswersFile::parse(&unreviewed).is_err(), "S27: only the hash covers a flagged result");
    assert_eq!(entry(json!({"hash": "h"})).find(&wrong), Ok(&AnswersFileDecision::Allow), "S27: the hash allows it");
}
