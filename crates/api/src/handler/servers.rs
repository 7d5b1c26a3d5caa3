//! Commands for servers, their activity logs and the settings.

use std::io::Write;

use serde_json::json;

use super::{Api, errors, saved_file_view, to_paths, views};
use crate::data::*;
use crate::{ApiError, ErrorCode};

/// Maximum number of entries in one page of the activity log. Equal to the capacity of the log, so that one page can
/// contain all entries.
const MAX_ACTIVITY_PAGE_ENTRIES: usize = supervision::activity::MAX_ACTIVITY_ENTRIES;

pub(super) async fn read_snapshot(api: &Api) -> Result<Snapshot, ApiError> {
    let snapshot = api.host.snapshot().await?;
    let ports = api.host.ports();
    Ok(Snapshot {
        next_event: snapshot.next_event,
        servers: snapshot.servers.into_iter().map(views::server_view).collect(),
        consent_requests: snapshot.consent_requests.into_iter().map(views::consent_request_view).collect(),
        calls: snapshot.calls,
        conversations: super::conversations::conversation_summaries(api).await?,
        settings: views::settings_view(snapshot.settings),
        config_problem: snapshot.config_problem,
        paths: AppPaths {
            config: ports.servers.path().display().to_string(),
            data: ports.documents.path().display().to_string(),
            audit: ports.audit.path().display().to_string(),
        },
        version: env!("CARGO_PKG_VERSION").to_owned(),
    })
}

pub(super) async fn parse_import(api: &Api, text: &str) -> Result<ImportPreview, ApiError> {
    let taken: Vec<String> = api.host.snapshot().await?.servers.into_iter().map(|s| s.name).collect();
    Ok(match api.host.ports().servers.parse_pasted(text, &taken) {
        Ok(found) => {
            ImportPreview { servers: found.into_iter().map(views::imported_server_view).collect(), problem: None }
        }
        Err(problem) => ImportPreview { servers: Vec::new(), problem: Some(problem) },
    })
}

pub(super) async fn read_activity(api: &Api, r: ActivityRange) -> Result<ActivityPage, ApiError> {
    let limit = usize::try_from(r.limit).unwrap_or(MAX_ACTIVITY_PAGE_ENTRIES).min(MAX_ACTIVITY_PAGE_ENTRIES);
    let page = api.host.activity_page(r.server, r.after.unwrap_or(0), limit).await?;
    let entries = page.entries.iter().map(views::activity_entry_view).collect();
    Ok(ActivityPage { entries, dropped: page.missing })
}

pub(super) async fn read_activity_message(api: &Api, r: ActivityRef) -> Result<ActivityBody, ApiError> {
    let entry = api.host.activity_entry(r.server, r.seq).await?;
    let entry = entry.ok_or_else(|| errors::not_found_error("this message"))?;
    Ok(ActivityBody { text: entry.body().into_owned(), truncated: entry.truncated, redacted: entry.redacted })
}

pub(super) async fn export_activity(api: &Api, server: String) -> Result<SavedFile, ApiError> {
    let page = api.host.activity_page(server.clone(), 0, usize::MAX).await?;
    let name = foreign::safe_file_name(&format!("{server}-activity"), "activity", "jsonl");
    let write = move |file: &mut dyn Write| {
        page.entries.iter().map(activity_export_line).try_for_each(|line| writeln!(file, "{line}"))
    };
    Ok(saved_file_view(api.host.save_file(&name, write).await?))
}

/// Formats an entry of an activity log as one line of the export. A message that is not valid JSON is included as a
/// string.
fn activity_export_line(entry: &supervision::activity::ActivityEntry) -> String {
    let shown = views::activity_entry_view(entry);
    let body = entry.body();
    let body = serde_json::from_str::<serde_json::Value>(&body)
        .unwrap_or_else(|_| serde_json::Value::String(body.into_owned()));
    json!({
        "seq": shown.seq,
        "at": shown.at,
        "kind": shown.kind,
        "sent": shown.sent,
        "method": shown.method,
        "id": shown.id,
        "bytes": shown.bytes,
        "latency": shown.latency,
        "note": shown.note,
        "truncated": entry.truncated,
        "body": body,
    })
    .to_string()
}

pub(super) async fn set_log_level(api: &Api, r: SetLogLevel) -> Result<EmptyObject, ApiError> {
    let level = serde_json::from_value(r.level.clone().into())
        .map_err(|_| ApiError::new(ErrorCode::BadRequest, format!("\"{}\" is not a log level", r.level)))?;
    api.host.set_log_level(r.server, level).await?;
    Ok(EmptyObject {})
}

pub(super) async fn ping_server(api: &Api, server: String) -> Result<PingAnswer, ApiError> {
    let took = api.host.ping(server).await?;
    Ok(PingAnswer { milliseconds: took.as_secs_f64() * 1_000.0 })
}

pub(super) async fn pick_folder(api: &Api) -> Result<PickedFolder, ApiError> {
    let folder = api.host.ports().platform.pick_folder().await.map_err(errors::system_error)?;
    Ok(PickedFolder { folder: folder.map(|folder| folder.display().to_string()) })
}

pub(super) async fn pick_file(api: &Api, kind: FileKind) -> Result<PickedFile, ApiError> {
    let extensions: &[&str] = match kind {
        FileKind::Any => &[],
        FileKind::Bundle => &installer::BUNDLE_EXTENSIONS,
    };
    let file = api.host.ports().platform.pick_file(extensions).await.map_err(errors::system_error)?;
    // A path that is not valid Unicode is an error, since a lossy conversion would result in another path.
    let text = file.map(|file| file.into_os_string().into_string()).transpose();
    let text = text
        .map_err(|path| errors::system_error(format!("the path {} is not Unicode: rename the file", path.display())))?;
    Ok(PickedFile { file: text })
}

pub(super) async fn read_content_protection(api: &Api) -> Result<ContentProtection, ApiError> {
    let [conversations, decisions] = api.host.content_encryption().await?.map(views::content_at_rest_view);
    Ok(ContentProtection { conversations, decisions })
}

pub(super) async fn set_settings(api: &Api, r: Settings) -> Result<EmptyObject, ApiError> {
    api.host.set_settings(views::to_app_settings(r)).await.map_err(|error| errors::system_error(error.to_string()))?;
    Ok(EmptyObject {})
}

pub(super) async fn set_window_settings(api: &Api, r: WindowSettings) -> Result<EmptyObject, ApiError> {
    let set = api.host.set_window_settings(r.zoom.clamp(MIN_ZOOM, MAX_ZOOM), r.menu_bar);
    set.await.map_err(|error| errors::system_error(error.to_string()))?;
    Ok(EmptyObject {})
}

pub(super) async fn set_sampling_settings(api: &Api, r: SetSampling) -> Result<EmptyObject, ApiError> {
    api.host.set_sampling(r.server, views::sampling::to_sampling_settings(r.settings)).await?;
    Ok(EmptyObject {})
}

pub(super) async fn set_data_flow_settings(api: &Api, r: SetDataFlow) -> Result<EmptyObject, ApiError> {
    api.host.set_data_flow(r.server, r.flow).await?;
    Ok(EmptyObject {})
}

pub(super) async fn set_root_folders(api: &Api, r: SetRoots) -> Result<EmptyObject, ApiError> {
    api.host.set_roots(r.server, to_paths(r.folders)).await?;
    Ok(EmptyObject {})
}
