//! Conversion of the host's views to the API types.

mod authorization;
mod consent_request;
mod content;
mod conversation;
pub(super) mod data_flow;
mod endpoints;
mod packages;
mod readable;
mod review;
pub(super) mod rules;
pub(super) mod sampling;

pub(super) use authorization::{authorization_view, content_at_rest_view, sign_out_outcome_view};
pub(super) use consent_request::consent_request_view;
pub(crate) use content::prompt_result_view;
pub(super) use content::{prompt_view, resource_view, template_view, tool_view};
pub(super) use conversation::conversation_tree_item_view;
pub(super) use review::review_marks_view;
pub(super) use sampling::{to_sampling_params, to_sampling_result};

use domain::app_view::AppViewEvent;
use domain::item::ConversationEvent;
use host::view::{AppSettings, DetectedTransport, HostEvent, RemoteConnection, ServerState as HostState, ServerView};
use mcp_proto::session::ServerFacts;
use mcp_proto::types::ServerCapabilities;
use policy::GrantSubject;
use ports::server_config::{PastedServer, ServerConfig as HostConfig};
use supervision::activity::ActivityEntry as HostEntry;

use super::server_setup::{self, SecretVisibility};
use crate::Event;
use crate::data::*;

/// Converts an event of the host to the API type. `conversations` is the current list of all conversations, which is
/// included in an event about them.
pub(crate) fn event_view(event: &HostEvent, conversations: Vec<ConversationSummary>) -> Event {
    match event.clone() {
        HostEvent::ServerChanged(view) => Event::ServerChanged { server: server_view(*view) },
        HostEvent::ServerRemoved(name) => Event::ServerRemoved { name },
        HostEvent::CatalogChanged(server) => Event::CatalogChanged { server },
        HostEvent::ResourceUpdated { server, uri } => Event::ResourceUpdated { server, uri },
        HostEvent::ConsentRequestChanged(view) => {
            Event::ConsentRequestChanged { consent_request: consent_request_view(*view) }
        }
        HostEvent::ConsentRequestClosed { id, outcome } => {
            Event::ConsentRequestClosed { id: id.0.to_string(), outcome }
        }
        HostEvent::SamplingText { id, text } => Event::SamplingText { id: id.0.to_string(), text },
        HostEvent::SamplingChanged(server) => Event::SamplingChanged { server },
        HostEvent::CallChanged(view) => Event::CallChanged { call: view },
        HostEvent::AuthorizationChanged(server) => Event::AuthorizationChanged { server },
        HostEvent::ActivityAppended { server, last } => Event::ActivityAppended { server, last },
        HostEvent::ConversationsChanged(changed) => Event::ConversationsChanged { conversations, changed },
        HostEvent::Conversation(ConversationEvent::ReplyDelta { conversation, item, seq, append }) => {
            Event::ReplyDelta { conversation, item, seq, append }
        }
        HostEvent::Conversation(ConversationEvent::ItemChanged { conversation, item, omitted, answering }) => {
            let item = Box::new(conversation::conversation_item_view(*item, omitted));
            Event::ItemChanged { conversation, item, answering }
        }
        HostEvent::AppView(AppViewEvent { view, change }) => Event::AppViewChanged { view, change },
        HostEvent::AuditChanged(_) => Event::AuditChanged,
        HostEvent::ModelsChanged => Event::ModelsChanged,
        HostEvent::SettingsChanged(settings) => Event::SettingsChanged { settings: self::settings_view(settings) },
        HostEvent::RulesChanged => Event::RulesChanged,
        HostEvent::ConfigProblem(problem) => Event::ConfigProblem { problem },
    }
}

pub(super) fn server_view(view: ServerView) -> Server {
    let [tools, prompts, resources, templates] = view.counts.map(|n| u32::try_from(n).unwrap_or(u32::MAX));
    let [new, changed] = view.unreviewed.map(|n| u32::try_from(n).unwrap_or(u32::MAX));
    let facts = view.facts;
    Server {
        command_line: view.config.command_line(),
        name: view.name,
        url: view.config.as_http().map(|http| UrlParts::parse(&http.url)),
        transport: server_transport_name(&view.config, view.connected.as_ref()).to_owned(),
        config: server_setup::server_config_view(view.config, SecretVisibility::Hidden),
        state: server_state_view(view.state),
        since: view.since,
        approved: view.approved,
        launched_hash: view.launched.map(|hash| hash.to_string()),
        revision: facts.as_ref().map(|f| f.revision.to_string()),
        detection: view.connected.map(|c| c.how).or_else(|| {
            let way = |f: &ServerFacts| if f.revision.is_modern() { "server/discover" } else { "initialize" };
            facts.as_ref().map(|f| way(f).to_owned())
        }),
        claims: facts.as_ref().and_then(|f| f.server.clone()).map(|s| ServerClaims {
            name: s.name,
            title: s.title,
            version: s.version,
            description: s.description,
            website_url: s.website_url,
        }),
        capabilities: facts.as_ref().map(|f| server_capability_names(&f.capabilities)).unwrap_or_default(),
        instructions: facts.and_then(|f| f.instructions),
        counts: ListCounts { tools, prompts, resources, templates },
        unreviewed: (new > 0 || changed > 0).then_some(UnreviewedCounts { new, changed }),
        roots: RootsState {
            decided: view.roots.is_some(),
            folders: view.roots.unwrap_or_default().into_iter().map(|f| f.display().to_string()).collect(),
            sent_folders: view.sent_roots.unwrap_or_default().into_iter().map(|f| f.display().to_string()).collect(),
        },
        subscriptions: view.subscriptions,
        subscriptions_lost: view.subscriptions_lost,
        log_level: view.log_level.and_then(|l| serde_json::to_value(l).ok()?.as_str().map(str::to_owned)),
        muted: view.muted,
        trust: view.trust,
        flow: view.flow,
        muted_until: view.muted_until,
        refused_consent_requests: view.refused_requests,
        marks: review_marks_view(view.marks),
        pid: view.pid,
        sandbox_mechanism: view.sandbox_mechanism.map(str::to_owned),
        installed: view.installed,
    }
}

/// Returns the detected transport of a server, or else the configured one.
fn server_transport_name(config: &HostConfig, connected: Option<&RemoteConnection>) -> &'static str {
    match connected.map(|c| c.transport) {
        Some(DetectedTransport::StreamableHttp) => "streamable-http",
        Some(DetectedTransport::HttpSse) => "http-sse",
        None if config.as_http().is_some() => "http",
        None => "stdio",
    }
}

/// Returns the server's capabilities as dotted names, such as `tools.listChanged`. Members of an object are included if
/// they are `true`.
fn server_capability_names(capabilities: &ServerCapabilities) -> Vec<String> {
    let Ok(serde_json::Value::Object(all)) = serde_json::to_value(capabilities) else { return Vec::new() };
    let mut names = Vec::new();
    for (name, value) in all.into_iter().take(50) {
        let inner = value.as_object().map(|inner| inner.iter().filter(|(_, v)| **v != false).map(|(k, _)| k.clone()));
        names.push(name.clone());
        names.extend(inner.into_iter().flatten().take(50).map(|key| format!("{name}.{key}")));
    }
    names
}

fn server_state_view(state: HostState) -> ServerState {
    match state {
        HostState::Stopped => ServerState::Stopped,
        HostState::AwaitingApproval => ServerState::AwaitingApproval,
        HostState::Starting => ServerState::Starting,
        HostState::Ready => ServerState::Ready,
        HostState::Stopping => ServerState::Stopping,
        HostState::Reconnecting(retry) => {
            ServerState::Reconnecting { attempt: retry.attempt, at: retry.at, cause: retry.cause }
        }
        HostState::Failed(failure) => ServerState::Failed {
            reason: failure.reason,
            message: failure.message,
            stderr: failure.stderr,
            searched_folders: failure.looked_in.into_iter().map(|f| f.display().to_string()).collect(),
            hint: failure.hint,
            blocked: failure.blocked.into_vec(),
            sandbox: failure.sandbox,
            refusal: failure.refusal,
        },
        HostState::NeedsSignIn(needed) => {
            ServerState::NeedsSignIn { cause: needed.cause, signing_in: needed.signing_in }
        }
    }
}

pub(super) fn imported_server_view(found: PastedServer) -> ImportedServer {
    let mut config = server_setup::server_config_view(found.config, SecretVisibility::Shown);
    match &mut config {
        ServerConfig::Stdio { secret_env, .. } => {
            *secret_env = Some(found.secrets).filter(|secrets| !secrets.is_empty());
        }
        ServerConfig::Http { headers, .. } => {
            for header in headers {
                header.secret |= found.secrets.contains(&header.name);
            }
        }
    }
    ImportedServer { name: found.name, config, notes: found.notes, usable: found.usable }
}

pub(super) fn activity_entry_view(entry: &HostEntry) -> ActivityEntry {
    ActivityEntry {
        seq: entry.seq,
        at: entry.at,
        kind: entry.kind,
        sent: entry.sent,
        method: entry.method.as_deref().map(str::to_owned),
        id: entry.id(),
        bytes: entry.bytes as u64,
        latency: entry.latency,
        preview: entry.preview(),
        note: entry.note.clone(),
    }
}

pub(super) fn permission_grant_view(grant: policy::Grant) -> Grant {
    Grant {
        id: grant.id.0.to_string(),
        server: grant.server,
        tool: match grant.subject {
            GrantSubject::Tool(tool) => Some(tool),
            GrantSubject::Command => None,
        },
        scope: grant.scope,
        conversation: grant.conversation,
        since: grant.since,
        expires_at: grant.expires_at,
        bound_hash: grant.rests_on.to_string(),
        last_use: grant.last_use,
    }
}

pub(super) fn settings_view(settings: AppSettings) -> Settings {
    Settings {
        theme: match settings.theme.as_str() {
            "light" => Theme::Light,
            "dark" => Theme::Dark,
            _ => Theme::System,
        },
        language: match settings.language.as_str() {
            "en" => Language::En,
            "zh" => Language::Zh,
            _ => Language::System,
        },
        welcome_done: settings.welcome_done,
        announce: settings.announce,
        limits: Some(settings.limits.clamped_to_bounds()),
        audit_days: settings.audit_days,
        audit_megabytes: settings.audit_megabytes,
        audit_contents: settings.audit_contents,
        chat: Some(settings.chat),
        on_close: match settings.on_close.as_str() {
            "background" => CloseAction::Background,
            "quit" => CloseAction::Quit,
            _ => CloseAction::Ask,
        },
        check_updates: settings.check_updates,
        zoom: settings.zoom.clamp(MIN_ZOOM, MAX_ZOOM),
        menu_bar: settings.menu_bar,
    }
}

pub(super) fn to_app_settings(settings: Settings) -> AppSettings {
    AppSettings {
        theme: match settings.theme {
            Theme::System => "system",
            Theme::Light => "light",
            Theme::Dark => "dark",
        }
        .to_owned(),
        language: match settings.language {
            Language::System => "system",
            Language::En => "en",
            Language::Zh => "zh",
        }
        .to_owned(),
        welcome_done: settings.welcome_done,
        announce: settings.announce,
        limits: settings.limits.unwrap_or_default().clamped_to_bounds(),
        audit_days: settings.audit_days,
        audit_megabytes: settings.audit_megabytes,
        audit_contents: settings.audit_contents,
        chat: settings.chat.unwrap_or_default().clamped_to_bounds(),
        on_close: match settings.on_close {
            CloseAction::Ask => "ask",
            CloseAction::Background => "background",
            CloseAction::Quit => "quit",
        }
        .to_owned(),
        check_updates: settings.check_updates,
        zoom: settings.zoom.clamp(MIN_ZOOM, MAX_ZOOM),
        menu_bar: settings.menu_bar,
    }
}
