//! Tests that each path in the published names of consent requests exists.

use api::data::{
    AuthField, AuthSetting, CallKind, ClientIdentity, ConsentRequest, ConsentRequestBody, ConsentRequestOrigin,
    EarlierApproval, EndpointUse, LoadedPackage, ModelChoiceReason, ModelRef, ReadContent, ReadContentKind,
    SamplingLoss, SamplingModel, SamplingRequest, SamplingRunState, SamplingStep, SignInEndpoint, SignInReason,
};
use serde_json::json;

use super::{assert_all_paths_exist, review_marks, sandbox_plan, url_parts};
use crate::output::to_json_value;
use crate::published_names::CONSENT_REQUEST_FIELD_NAMES;

#[test]
fn published_field_paths_of_consent_requests_exist() {
    let bodies = [
        start_body(),
        connect_body(),
        ConsentRequestBody::Read { call_kind: CallKind::Prompt, name: "summary".into(), arguments: json!({}) },
        sampling_body(),
        sign_in_body(),
    ];
    let values = bodies.map(|body| to_json_value(&consent_request(body)));
    assert_all_paths_exist(CONSENT_REQUEST_FIELD_NAMES, &values);
}

fn consent_request(body: ConsentRequestBody) -> ConsentRequest {
    ConsentRequest {
        id: "1".into(),
        hash: "h".into(),
        server: "files".into(),
        transport: "stdio".into(),
        command_line: String::new(),
        asked_at: 0,
        origin: ConsentRequestOrigin::Model {
            conversation: "c".into(),
            untrusted_servers: vec!["web".into()],
            same_server_readings: vec![ReadContent::new("files", ReadContentKind::Tool, "read")],
        },
        round: None,
        body,
        scopes: Vec::new(),
        reason: "tools-ask".into(),
        stricter_reason: None,
        marks: review_marks(),
        call: None,
    }
}

fn earlier_approval() -> EarlierApproval {
    EarlierApproval { approved: "npx a".into(), requested: "npx b".into() }
}

fn start_body() -> ConsentRequestBody {
    let package = LoadedPackage {
        launcher: "npx".into(),
        name: Some("a".into()),
        requested_version: Some("^1".into()),
        version: None,
        unknown: None,
        before: None,
        replaced: false,
        unpinned: Vec::new(),
        configured: "npx a@^1".into(),
    };
    ConsentRequestBody::StartServer {
        command: "npx".into(),
        resolved: None,
        args: Vec::new(),
        env: Vec::new(),
        cwd: "/home/ann".into(),
        earlier_approval: Some(earlier_approval()),
        sandbox: Some(sandbox_plan()),
        files: Vec::new(),
        writers: Vec::new(),
        package: Some(package),
    }
}

fn connect_body() -> ConsentRequestBody {
    let issuer = AuthSetting {
        field: AuthField::Issuer,
        value: "https://a.example".into(),
        secret: false,
        url: Some(url_parts()),
        is_on_other_domain: true,
    };
    ConsentRequestBody::ConnectServer {
        url: url_parts(),
        headers: Vec::new(),
        transport_kind: None,
        unencrypted: false,
        auth: vec![issuer],
        unattended: false,
        earlier_approval: Some(earlier_approval()),
    }
}

fn sampling_body() -> ConsentRequestBody {
    let request = SamplingRequest {
        messages: Vec::new(),
        system_prompt: None,
        max_tokens: 100,
        temperature: None,
        stop_sequences: Vec::new(),
        include_context: None,
        model_hints: Vec::new(),
        cost_priority: None,
        speed_priority: None,
        intelligence_priority: None,
        tools: Vec::new(),
        tool_choice: None,
        metadata: None,
    };
    let model = SamplingModel {
        model: ModelRef { provider: "p".into(), model: "m".into() },
        name: "M".into(),
        reason: ModelChoiceReason::Default,
        max_micros: Some(1),
    };
    ConsentRequestBody::Sampling {
        step: SamplingStep::Request,
        request,
        response: None,
        model: Some(model),
        requested_tokens: 200,
        losses: vec![SamplingLoss { feature: "audio".into(), conversion: "refuse".into() }],
        can_rerun: true,
        run: SamplingRunState::No,
    }
}

fn sign_in_body() -> ConsentRequestBody {
    let endpoint = SignInEndpoint {
        purpose: EndpointUse::Token,
        url: url_parts(),
        issuer: "https://a.example".into(),
        is_on_other_domain: true,
    };
    ConsentRequestBody::SignIn {
        url: url_parts(),
        issuer: "https://a.example".into(),
        issuer_url: url_parts(),
        resource: "https://a.example".into(),
        scopes: Vec::new(),
        held_scopes: Vec::new(),
        client: ClientIdentity::Registered,
        client_id: "c".into(),
        endpoints: vec![endpoint],
        redirect_uri: None,
        authorization_url: None,
        is_page_on_other_domain: true,
        reason: SignInReason::SignIn,
    }
}
