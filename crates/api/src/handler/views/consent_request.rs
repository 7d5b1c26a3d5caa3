//! Conversion of consent requests and forms for the page.

use host::view::{ConsentRequestBody as HostBody, ConsentRequestView};
use policy::{Hash, ReviewState};
use ports::server_config::AuthConfig;
use serde_json::json;
use server_requests::form::Form;

use super::content::tool_claims_view;
use super::readable::format_readable_json;
use super::{authorization, data_flow, endpoints, packages, review_marks_view, sampling};
use crate::data::*;
use crate::handler::containment;
use crate::handler::server_setup::{self, SecretVisibility};

pub(in crate::handler) fn consent_request_view(view: ConsentRequestView) -> ConsentRequest {
    ConsentRequest {
        id: view.id.0.to_string(),
        hash: view.hash.to_string(),
        server: view.server,
        transport: view.transport.to_owned(),
        command_line: view.command_line,
        asked_at: view.asked_at,
        origin: view.origin,
        round: view.round,
        body: consent_request_body_view(view.body, view.marks.review_state == Some(ReviewState::Reviewed)),
        scopes: view.scopes.to_vec(),
        reason: view.reason.to_owned(),
        stricter_reason: view.stricter_reason,
        marks: review_marks_view(view.marks),
        call: view.call,
    }
}

fn consent_request_body_view(body: HostBody, is_reviewed: bool) -> ConsentRequestBody {
    match body {
        HostBody::Result { tool, app, parts, is_error, flags: _ } => {
            let content = parts.into_iter().filter_map(data_flow::to_api_content).collect();
            ConsentRequestBody::Result { tool, app, content, is_error }
        }
        HostBody::StartServer {
            config,
            resolved,
            working_directory,
            earlier_approval,
            plan,
            files,
            changed_files,
            writers,
            package,
        } => ConsentRequestBody::StartServer {
            command: config.command,
            resolved: Some(resolved.display().to_string()),
            args: config.args,
            env: config.env.into_iter().collect(),
            cwd: working_directory.display().to_string(),
            earlier_approval,
            sandbox: plan.map(containment::sandbox_plan_view),
            files: files.iter().map(|file| containment::launch_file_view(file, &changed_files)).collect(),
            writers: writers.into_iter().map(containment::launch_file_writer_view).collect(),
            package: package.map(|package| packages::loaded_package_view(*package)),
        },
        HostBody::ConnectServer { config, earlier_approval } => ConsentRequestBody::ConnectServer {
            url: UrlParts::parse(&config.url),
            headers: server_setup::http_headers_view(&config, SecretVisibility::Hidden),
            transport_kind: config.kind.map(server_setup::http_kind_view),
            unencrypted: config.is_unencrypted_remote(),
            auth: endpoints::auth_settings_view(config.auth.as_ref()),
            unattended: config.auth.as_ref().is_some_and(AuthConfig::is_unattended),
            earlier_approval,
        },
        HostBody::Tool { tool, app, arguments, changed_since_allowed, read_only } => ConsentRequestBody::Tool {
            definition: (!is_reviewed).then(|| format_readable_json(&json!(tool))),
            reviewed_definition: is_reviewed.then(|| format_readable_json(&json!(tool))),
            definition_hash: Some(Hash::of_json(&json!(tool)).to_string()),
            claims: match app {
                Some(_) => ToolClaims { asks_each_time: true, ..tool_claims_view(&tool) },
                None => tool_claims_view(&tool),
            },
            app: app.map(|app| app.tool),
            title: tool.title,
            tool: tool.name,
            description: tool.description,
            input_schema: tool.input_schema,
            bytes: json!(arguments).to_string().len() as u64,
            arguments: arguments.into(),
            changed_since_allowed,
            read_only_tools: read_only,
        },
        HostBody::Read { kind, name, arguments } => {
            ConsentRequestBody::Read { call_kind: kind, name, arguments: arguments.into() }
        }
        HostBody::Sampling { request, response, state } => sampling::sampling_body_view(*request, response, *state),
        HostBody::Form { message, form } => {
            let (fields, unsupported) = match form {
                Ok(Form { fields }) => (fields, None),
                Err(cause) => (Vec::new(), Some(cause)),
            };
            ConsentRequestBody::Form { message, fields, unsupported }
        }
        HostBody::Url { message, url } => {
            ConsentRequestBody::Url { message, url: UrlParts::parse_requested_by_server(&url) }
        }
        HostBody::Roots => ConsentRequestBody::Roots,
        HostBody::SignIn {
            url,
            issuer,
            resource,
            scopes,
            held_scopes,
            client,
            client_id,
            endpoints: found,
            redirect_uri,
            authorization_url,
            reason,
        } => ConsentRequestBody::SignIn {
            url: UrlParts::parse(&url),
            issuer_url: UrlParts::parse(&issuer),
            is_page_on_other_domain: authorization_url
                .as_ref()
                .is_some_and(|page| endpoints::has_other_registrable_domain(page, &issuer)),
            issuer,
            resource,
            scopes,
            held_scopes,
            client: authorization::client_identity_view(client),
            client_id,
            endpoints: found.into_iter().map(endpoints::endpoint_view).collect(),
            redirect_uri,
            authorization_url: authorization_url.map(|page| UrlParts::parse(&page)),
            reason: authorization::sign_in_reason_view(reason),
        },
        HostBody::ClientId { url, issuer, redirect_uri } => ConsentRequestBody::ClientId {
            url: UrlParts::parse(&url),
            issuer_url: UrlParts::parse(&issuer),
            issuer,
            redirect_uri,
        },
    }
}
