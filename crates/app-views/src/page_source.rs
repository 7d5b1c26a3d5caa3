//! Reads the app page of a tool and the tools that the app may call, from the tool's server. Used by `AppViews`.

use std::collections::BTreeSet;

use domain::call::CallFailure;
use host::{CallOrigin, Host};
use mcp_apps::{AppPage, AppPageReadError, DeclaredCspSources, DeclaredDomains, PagePermission, ToolMetadata, UiUri};
use mcp_proto::types::{Map, Tool};
use serde_json::json;

/// Permissions that the user can grant to an app page.
const GRANTABLE_PERMISSIONS: [PagePermission; 1] = [PagePermission::ClipboardWrite];
/// Reason why pages of other hosts are not available in an app.
const NO_NESTED_FRAMES_REASON: &str =
    "is not available: the window can't distinguish a page inside of the app from one that replaces the app";
/// Reason why the permissions that are not in [`GRANTABLE_PERMISSIONS`] are not available.
const NO_DEVICE_ACCESS_REASON: &str = "is not available: the window gives no page access to devices or to the location";
/// Reason why an app page gets no stable origin.
const NO_STABLE_ORIGIN_REASON: &str = "is not available: each shown app has an origin of its own";

/// Reason why the app page of a tool can't be shown.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum AppPageError {
    /// The server doesn't list the tool, or the tool has no page.
    #[error("the tool has no app")]
    NoPage,
    /// The resource that the server returned is not a valid app page.
    #[error("the app can't be shown: {0}")]
    Page(#[from] AppPageReadError),
    /// The request to the server for the page failed.
    #[error(transparent)]
    Call(#[from] CallFailure),
}

/// Returns the definition of a tool and the URI of its app page, or `None` if the tool has no page or isn't listed by
/// its server.
pub(crate) async fn find_tool_with_app_page(host: &Host, server: &str, tool: &str) -> Option<(Tool, UiUri)> {
    let definition = host.catalog(server.to_owned()).await.ok()?.tool(tool)?;
    let page = ToolMetadata::read(definition.meta.as_ref()).page?;
    Some((definition, page))
}

/// Reads an app page like a resource that the user opens. `call` is the id of the call that reads the resource.
pub(crate) async fn read_page(host: &Host, call: String, server: &str, uri: UiUri) -> Result<AppPage, AppPageError> {
    let origin = CallOrigin::User { conversation: None };
    let read = host.read_resource_as(origin, call, server.to_owned(), uri.as_str().to_owned(), false).await?;
    let result: Map = std::iter::once(("contents".to_owned(), json!(read.contents))).collect();
    let catalog = host.catalog(server.to_owned()).await.map_err(|_| CallFailure::Closing)?;
    let read = tokio::task::spawn_blocking(move || {
        let listed = catalog.resources.iter().find(|resource| resource.name() == uri.as_str());
        let listed: Option<Map> = listed.and_then(|resource| resource.raw().parse().ok());
        AppPage::from_read_result(&uri, &result, listed.as_ref())
    });
    Ok(read.await.map_err(|_| CallFailure::Internal)??)
}

/// Returns the names of a server's tools that its apps may call. Empty if the host has shut down.
pub(crate) async fn tools_callable_by_apps(host: &Host, server: &str) -> BTreeSet<String> {
    let Ok(catalog) = host.catalog(server.to_owned()).await else { return BTreeSet::new() };
    let listed = tokio::task::spawn_blocking(move || {
        let for_apps = catalog.tools.iter().filter_map(|entry| {
            let tool = entry.read().ok()?;
            ToolMetadata::read(tool.meta.as_ref()).is_callable_by_app().then(|| entry.name().to_owned())
        });
        for_apps.collect()
    });
    listed.await.unwrap_or_default()
}

/// Removes declared access that Drawbridge never grants: nested frames, permissions of the web view for devices, and a
/// stable origin. Returns the page and a note for each removed declaration. The hash of the page still covers them.
pub(crate) fn without_unsupported_permissions(mut page: AppPage) -> (AppPage, Vec<String>) {
    let frames = page.metadata.domains.as_mut().map(|domains| std::mem::take(&mut domains.frame_domains));
    let frames = DeclaredDomains { frame_domains: frames.unwrap_or_default(), ..DeclaredDomains::default() };
    let frames = DeclaredCspSources::parse(&frames);
    let nested = frames
        .iter()
        .map(|(used_as, source)| format!("{} {source} {NO_NESTED_FRAMES_REASON}", used_as.metadata_name()));
    let nested = nested.chain(frames.dropped.iter().map(ToString::to_string));
    let requested = std::mem::take(&mut page.metadata.permissions);
    let (granted, refused): (Vec<_>, Vec<_>) = requested.iter().partition(|one| GRANTABLE_PERMISSIONS.contains(one));
    page.metadata.permissions = granted.into();
    let permissions =
        refused.iter().map(|permission| format!("{} {NO_DEVICE_ACCESS_REASON}", permission.metadata_name()));
    let domain = page.metadata.domain.iter().map(|domain| format!("domain {domain} {NO_STABLE_ORIGIN_REASON}"));
    let notes = nested.chain(permissions).chain(domain).collect();
    (page, notes)
}
