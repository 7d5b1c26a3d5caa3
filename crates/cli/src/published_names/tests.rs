//! Tests of the published names: how they are applied, and that each path of a table exists in the types of the API.

mod consent_requests;

use api::Event;
use api::data::{
    Account, Authorization, BlockedPath, ClientIdentity, ConsentRequestOutcome, ConversationItem, DataFlow,
    DecisionSource, DefinitionDiff, DryRunResult, FailureReason, FolderProposal, ItemBody, ListCounts, LookAlike,
    LossyConversion, ModelProvider, Models, Notice, OmittedContent, PathMention, Prompt, ProposalRefusal, ProviderKind,
    ProviderPreset, ProviderTest, ReachedSamplingLimit, ResourceLimits, ReviewMarks, ReviewState, RootsState,
    RuleEffect, SamplingLimits, SamplingReport, SamplingSettings, SamplingUsage, SandboxNetwork, SandboxPlan,
    SandboxReport, Server, ServerConfig, ServerState, SignInStep, TokenStorage, Tool, ToolClaims, TrustDuration,
    UrlParts,
};
use checkup::{CheckId, Finding, FindingState, FindingText};
use serde_json::json;

use super::*;
use crate::output::to_json_value;

#[test]
fn members_are_renamed_only_at_their_path() {
    let names: &PublishedFieldNames =
        &[("new", "old"), ("list/*/new", "old"), ("inner/new", "old"), ("absent/new", "old")];
    let value = json!({"a": 1, "new": 2, "list": [{"new": 3}, 4], "inner": {"new": {"new": 5}}, "other": {"new": 6}});
    assert_eq!(
        with_published_field_names(value, names).to_string(),
        r#"{"a":1,"old":2,"list":[{"old":3},4],"inner":{"old":{"new":5}},"other":{"new":6}}"#,
        "the order and all other members should stay the same"
    );
    assert_eq!(with_published_field_names(json!("new"), names), json!("new"), "other values should stay the same");
}

#[test]
fn events_have_their_published_names() {
    let closed = Event::ConsentRequestClosed { id: "1".into(), outcome: ConsentRequestOutcome::Denied };
    let closed = to_json_value(&closed);
    assert_eq!(closed["type"].as_str().map(published_event_name), Some("question_closed"), "a renamed event");
    assert_eq!(published_event_name("call_changed"), "call_changed", "an event with the same name");
}

/// Returns the paths in `names` that exist in none of `values`, or at which the published name is missing from the
/// output.
fn published_paths_missing_in_values(names: &PublishedFieldNames, values: &[Value]) -> Vec<&'static str> {
    let is_broken = |index: usize| {
        let (path, published) = names[index];
        let published_path = path_with_last_name(path, published);
        // Later entries may rename an object that contains the member.
        let final_path = names[index + 1..].iter().fold(published_path.clone(), |at, (parent, name)| {
            match at.strip_prefix(parent) {
                Some(rest) if rest.starts_with('/') => path_with_last_name(parent, name) + rest,
                _ => at,
            }
        });
        let mut is_found = false;
        for value in values {
            // Entries apply in order, so a path can contain names that earlier entries published.
            let before = with_published_field_names(value.clone(), &names[..index]);
            let count = json_members_at_path(&before, path).len();
            if count == 0 {
                continue;
            }
            is_found = true;
            let output = with_published_field_names(value.clone(), names);
            let has_other_member = !json_members_at_path(&before, &published_path).is_empty();
            if has_other_member || json_members_at_path(&output, &final_path).len() != count {
                return true;
            }
        }
        !is_found
    };
    (0..names.len()).filter(|&index| is_broken(index)).map(|index| names[index].0).collect()
}

/// Returns the path with its last name replaced by `name`.
fn path_with_last_name(path: &str, name: &str) -> String {
    path.rsplit_once('/').map_or_else(|| name.to_owned(), |(parent, _)| format!("{parent}/{name}"))
}

/// Returns the members at a path. If the path contains `*`, there may be several.
fn json_members_at_path<'a>(value: &'a Value, path: &str) -> Vec<&'a Value> {
    let (name, rest) = path.split_once('/').map_or((path, None), |(name, rest)| (name, Some(rest)));
    let found: Vec<&Value> = match value {
        Value::Array(items) if name == "*" => items.iter().collect(),
        Value::Object(members) => members.get(name).into_iter().collect(),
        _ => Vec::new(),
    };
    match rest {
        Some(rest) => found.into_iter().flat_map(|inner| json_members_at_path(inner, rest)).collect(),
        None => found,
    }
}

#[track_caller]
fn assert_all_paths_exist(names: &PublishedFieldNames, values: &[Value]) {
    assert_eq!(published_paths_missing_in_values(names, values), [""; 0], "these paths should exist in {values:?}");
}

#[test]
fn published_field_path_missing_in_values_is_found() {
    let values = [json!({"outer": {"new": 1, "other": 2}}), json!({"list": [{"new": 3}, {}]})];
    let cases: [(&PublishedFieldNames, &[&str], &str); 6] = [
        (&[("outer/new", "old"), ("outer", "around"), ("list/*/new", "old")], &[], "all paths exist"),
        (&[("outer/new", "old"), ("outer/mew", "old")], &["outer/mew"], "a misspelled member"),
        (&[("outer/*/new", "old"), ("list/new", "old")], &["outer/*/new", "list/new"], "objects and arrays differ"),
        (&[("outer", "around"), ("outer/new", "old")], &["outer/new"], "an object renamed before its member"),
        (&[("outer/new", "other")], &["outer/new"], "the name of another member"),
        (&[("outer/new", "old"), ("outer/old", "older")], &["outer/new"], "a published name that is renamed again"),
    ];
    for (names, expected, why) in cases {
        assert_eq!(published_paths_missing_in_values(names, &values), expected, "{why}");
    }
}

#[test]
fn published_field_paths_of_servers_exist() {
    let state = ServerState::Failed {
        reason: FailureReason::CommandNotFound,
        message: String::new(),
        stderr: Vec::new(),
        searched_folders: vec!["/bin".into()],
        hint: None,
        blocked: vec![BlockedPath {
            path: "/etc/a".into(),
            named_by: PathMention::Server,
            proposal: FolderProposal::None { reason: ProposalRefusal::System },
        }],
        sandbox: None,
        refusal: None,
    };
    let server = Server {
        name: "files".into(),
        config: ServerConfig::Http {
            url: "https://a.example".into(),
            headers: Vec::new(),
            kind: None,
            auth: None,
            revision: None,
            tools: None,
            autostart: None,
        },
        command_line: String::new(),
        url: None,
        transport: "http".into(),
        state,
        since: 0,
        approved: true,
        launched_hash: None,
        revision: None,
        detection: Some("by its response".into()),
        claims: None,
        capabilities: Vec::new(),
        instructions: None,
        counts: ListCounts::default(),
        unreviewed: None,
        roots: RootsState::default(),
        subscriptions: Vec::new(),
        subscriptions_lost: None,
        log_level: None,
        muted: false,
        trust: TrustDuration::default(),
        flow: DataFlow::default(),
        muted_until: None,
        refused_consent_requests: 1,
        marks: review_marks(),
        pid: None,
        sandbox_mechanism: Some("Landlock".into()),
        installed: None,
    };
    assert_all_paths_exist(SERVER_FIELD_NAMES, &[to_json_value(&server)]);
}

fn review_marks() -> ReviewMarks {
    ReviewMarks {
        diff: Some(DefinitionDiff { is_truncated: true, ..DefinitionDiff::default() }),
        look_alikes: vec![LookAlike { server: "mail".into(), name: "send".into(), is_identical: true }],
        ..ReviewMarks::default()
    }
}

#[test]
fn published_field_paths_of_sandbox_reports_exist() {
    let report = SandboxReport { plan: Some(sandbox_plan()), problem: None, cause: None, missing: Vec::new() };
    assert_all_paths_exist(SANDBOX_FIELD_NAMES, &[to_json_value(&report)]);
}

fn sandbox_plan() -> SandboxPlan {
    SandboxPlan {
        mechanism: "Landlock".into(),
        folders: Vec::new(),
        program: Vec::new(),
        system: Vec::new(),
        home: "/home/a".into(),
        hidden: Vec::new(),
        network: SandboxNetwork::FilesOnly,
        limits: ResourceLimits::default(),
    }
}

#[test]
fn published_field_paths_of_tools_and_prompts_exist() {
    let tool = Tool {
        name: "send".into(),
        title: None,
        description: None,
        input_schema: json!({}),
        output_schema: None,
        claims: ToolClaims::default(),
        icons: Vec::new(),
        allowed: false,
        others: None,
        hash: "h".into(),
        marks: review_marks(),
    };
    let prompt = Prompt {
        name: "summary".into(),
        title: None,
        description: None,
        arguments: Vec::new(),
        icons: Vec::new(),
        others: None,
        hash: "h".into(),
        marks: review_marks(),
    };
    assert_all_paths_exist(DEFINITION_FIELD_NAMES, &[to_json_value(&tool)]);
    assert_all_paths_exist(DEFINITION_FIELD_NAMES, &[to_json_value(&prompt)]);
}

#[test]
fn published_field_paths_of_dry_runs_exist() {
    let result = DryRunResult {
        effect: RuleEffect::Ask,
        reason: "tools-ask".into(),
        by: DecisionSource::Preset,
        scopes: Vec::new(),
        considered: Vec::new(),
        assumed_unchanged: false,
        review_state: Some(ReviewState::New),
        is_tool_turned_off: true,
    };
    assert_all_paths_exist(DRY_RUN_FIELD_NAMES, &[to_json_value(&result)]);
}

#[test]
fn published_field_paths_of_doctor_findings_exist() {
    let finding = Finding {
        id: CheckId::Clock,
        title: CheckId::Clock.title(),
        state: FindingState::Problem,
        observation: FindingText::new("slow"),
        remedy: Some(FindingText::new("set it")),
        servers: Vec::new(),
    };
    assert_all_paths_exist(DOCTOR_FIELD_NAMES, &[json!({ "findings": [finding] })]);
}

#[test]
fn published_field_paths_of_model_providers_exist() {
    let provider = ModelProvider {
        id: "p".into(),
        name: "P".into(),
        kind: ProviderKind::OpenAi,
        url: "http://a.example".into(),
        silence_seconds: None,
        losses: vec![LossyConversion { feature: "audio".into(), conversion: "refuse".into(), choices: Vec::new() }],
        has_key: false,
        local: false,
        is_unencrypted: true,
        models: Vec::new(),
        listed_at: None,
        problem: None,
    };
    let preset = ProviderPreset {
        id: "p",
        name: "P",
        kind: ProviderKind::OpenAi,
        url: "https://a.example",
        requires_key: true,
        key_page_url: Some("https://a.example/keys"),
    };
    assert_all_paths_exist(PROVIDER_FIELD_NAMES, &[to_json_value(&provider)]);
    let models = Models { providers: vec![provider], default: None, found: Vec::new(), presets: vec![preset] };
    assert_all_paths_exist(MODELS_FIELD_NAMES, &[to_json_value(&models)]);
    let test = ProviderTest { models: 1, reply: Some("hi".into()), first_token_milliseconds: Some(1), problem: None };
    assert_all_paths_exist(PROVIDER_TEST_FIELD_NAMES, &[to_json_value(&test)]);
}

fn url_parts() -> UrlParts {
    UrlParts::parse("https://a.example")
}

#[test]
fn published_field_paths_of_authorizations_exist() {
    let account = Account {
        issuer: "https://a.example".into(),
        issuer_url: url_parts(),
        resource: "https://a.example".into(),
        scopes: Vec::new(),
        expires_at: None,
        signed_in_at: 0,
        refreshed_at: None,
        can_refresh: false,
        reauthentication_reason: Some("the token was revoked".into()),
        client: ClientIdentity::Registered,
        is_dpop_bound: true,
    };
    let step = SignInStep {
        at: 0,
        duration_milliseconds: 1,
        purpose: "reads the metadata".into(),
        request: None,
        response: Some("200".into()),
        conclusion: String::new(),
        failed: false,
    };
    let authorization = Authorization {
        server: "web".into(),
        unsupported_reason: Some("local".into()),
        account: Some(account),
        in_progress: None,
        failure_message: Some("timed out".into()),
        failure: None,
        steps: vec![step],
        token_storage: Some(TokenStorage::Keychain),
    };
    assert_all_paths_exist(AUTHORIZATION_FIELD_NAMES, &[to_json_value(&authorization)]);
}

#[test]
fn published_field_paths_of_sampling_reports_exist() {
    let limits = SamplingLimits { requests: None, tokens: None, micros: None };
    let usage = SamplingUsage { requests: 1, tokens: 2, micros: 3 };
    let settings = SamplingSettings {
        is_enabled: true,
        tools: false,
        max_tokens: 100,
        model: None,
        per_hour: limits,
        total: limits,
    };
    let reached_limit = Some(ReachedSamplingLimit { quantity: "tokens".into(), is_per_hour: true, limit: 2 });
    let report =
        SamplingReport { settings, last_hour: usage, total: usage, last_use: None, reached_limit, outdated: false };
    assert_all_paths_exist(SAMPLING_FIELD_NAMES, &[to_json_value(&report)]);
}

#[test]
fn published_field_paths_of_events_exist() {
    let omitted = OmittedContent { pointer: "/content".into(), hash: "h".into(), bytes: 1, is_text: true };
    let item = ConversationItem {
        id: "1".into(),
        parent: None,
        at: 0,
        state: None,
        seq: None,
        siblings: None,
        body: ItemBody::Notice { notice: Notice::Rounds { rounds: 1 } }.into(),
        omitted: Some(vec![omitted]),
    };
    let event = Event::ItemChanged { conversation: "c".into(), item: Box::new(item), answering: false };
    assert_all_paths_exist(EVENT_FIELD_NAMES, &[to_json_value(&event)]);
}
