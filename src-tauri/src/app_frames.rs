//! Frames of apps (MCP Apps). Their documents are served from a scheme of their own, with one random host for each
//! shown app, so that each has its own origin, and nothing of the window's origin.
//!
//! Apps are shown on Linux only. On Windows a custom scheme is one origin, whatever the host, and on macOS the web
//! view's message handler for commands can't be removed yet. Decision record 0106 has the reasons and measurements.

use api::Api;
use tauri::http::{Response, StatusCode, Uri};
use tauri::{AppHandle, Builder, Manager as _, Runtime, Url, WebviewWindow};

#[cfg(target_os = "linux")]
use crate::connection_hints;

/// URL scheme of the documents of MCP apps, which the content security policy of Drawbridge's page allows in frames.
const MCP_APP_DOCUMENT_SCHEME: &str = "drawbridge-app";
/// Number of hexadecimal digits of a view's identifier.
const MCP_APP_VIEW_ID_HEX_DIGITS: usize = 32;
/// Origins from which Drawbridge's page is loaded, and which may therefore embed MCP apps.
#[cfg(target_os = "linux")]
const DRAWBRIDGE_PAGE_ORIGINS: [&str; 1] = ["tauri://localhost"];

/// Set if this operating system isolates MCP apps from Drawbridge's page and from each other, so that they can be
/// shown.
pub(crate) const MCP_APPS_ARE_SUPPORTED: bool = cfg!(target_os = "linux");

/// Function that is called when a frame loads the document of an app, with the label of the window that contains the
/// frame.
pub(crate) type McpAppFrameLoadHook<R> = fn(&AppHandle<R>, &str);

/// Registers the URL scheme with which frames load the documents of MCP apps. `on_load` is called for each document.
pub(crate) fn register_mcp_app_document_scheme<R: Runtime>(
    builder: Builder<R>,
    on_load: McpAppFrameLoadHook<R>,
) -> Builder<R> {
    builder.register_asynchronous_uri_scheme_protocol(MCP_APP_DOCUMENT_SCHEME, move |context, request, responder| {
        let api = context.app_handle().try_state::<Api>().map(|api| api.inner().clone());
        on_load(context.app_handle(), context.webview_label());
        responder.respond(respond_with_mcp_app_document(api.as_ref(), request.uri()));
    })
}

/// Permits the API to show MCP apps in frames of Drawbridge's page, since on this operating system each shown app has
/// an origin of its own.
#[cfg(target_os = "linux")]
pub(crate) fn allow_mcp_app_frames(api: Api) -> Api {
    let development = tauri::is_dev().then_some("http://localhost:1420");
    let origins = DRAWBRIDGE_PAGE_ORIGINS.into_iter().chain(development);
    api.with_app_frames(origins.filter_map(|origin| api::FrameAncestor::new(origin).ok()).collect())
}

/// Returns the API unchanged, so that it shows no MCP apps, since they can't be isolated on this operating system.
#[cfg(not(target_os = "linux"))]
pub(crate) fn allow_mcp_app_frames(api: Api) -> Api {
    api
}

fn respond_with_mcp_app_document(api: Option<&Api>, uri: &Uri) -> Response<Vec<u8>> {
    let found = match (api, uri.host(), uri.query()) {
        (Some(api), Some(view), None) => api.app_views().respond_to_frame(view, uri.path()),
        _ => api::AppFrameResponse::not_found(),
    };
    let headers = found
        .headers
        .into_iter()
        .fold(Response::builder().status(found.status), |response, (name, value)| response.header(name, value));
    headers.body(found.body).unwrap_or_else(|error| {
        tracing::error!(%error, "the document of an app can't be served");
        let mut response = Response::new(Vec::new());
        *response.status_mut() = StatusCode::INTERNAL_SERVER_ERROR;
        response
    })
}

/// Returns `true` if a URL is that of a shown app's document.
pub(crate) fn is_mcp_app_document_url(url: &Url) -> bool {
    let is_id =
        |host: &str| host.len() == MCP_APP_VIEW_ID_HEX_DIGITS && host.bytes().all(|byte| byte.is_ascii_hexdigit());
    MCP_APPS_ARE_SUPPORTED
        && url.scheme() == MCP_APP_DOCUMENT_SCHEME
        && url.host_str().is_some_and(is_id)
        && url.query().is_none()
}

/// Disables two features of the web view that an app's content security policy can't block: the message handler for
/// commands, which every frame has, and connection hints. The page invokes commands with requests to a URL scheme that
/// the policy of an app does not allow. Must be called when the window is created.
///
/// # Errors
/// Returns an error if the window is already closed.
#[cfg(target_os = "linux")]
pub(crate) fn isolate_mcp_app_frames<R: Runtime>(window: &WebviewWindow<R>) -> tauri::Result<()> {
    use webkit2gtk::{UserContentManagerExt as _, WebViewExt as _};

    window.with_webview(|webview| {
        if let Some(manager) = webview.inner().user_content_manager() {
            manager.unregister_script_message_handler("ipc");
        }
        let is_off =
            webview.inner().settings().is_some_and(|settings| connection_hints::disable_connection_hints(&settings));
        if !is_off {
            tracing::warn!("this version of WebKitGTK lets apps connect to other hosts in advance");
        }
    })
}

/// Does nothing, since MCP apps are not shown on this operating system.
#[cfg(not(target_os = "linux"))]
pub(crate) fn isolate_mcp_app_frames<R: Runtime>(_: &WebviewWindow<R>) -> tauri::Result<()> {
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn url_of_a_shown_mcp_app_is_recognized_as_its_document() {
        let id = "0123456789abcdef0123456789abcdef";
        for own in [format!("drawbridge-app://{id}/"), format!("drawbridge-app://{id}/self-test")] {
            assert_eq!(is_mcp_app_document_url(&own.parse().expect("a URL")), MCP_APPS_ARE_SUPPORTED, "{own}");
        }
        let others = [
            "drawbridge-app://localhost/".to_owned(),
            format!("drawbridge-app://{id}0/"),
            format!("drawbridge-app://{id}/?a=b"),
            format!("https://{id}/"),
            "tauri://localhost/".to_owned(),
        ];
        for other in others {
            assert!(
                !is_mcp_app_document_url(&other.parse().expect("a URL")),
                "{other} should not be a document of an app"
            );
        }
    }

    #[test]
    fn url_of_an_unknown_mcp_app_view_or_with_a_query_is_not_found() {
        for address in ["drawbridge-app://0123456789abcdef0123456789abcdef/", "drawbridge-app://a/?b"] {
            let response = respond_with_mcp_app_document(None, &address.parse().expect("a URI"));
            assert_eq!(response.status(), StatusCode::NOT_FOUND, "{address}");
            let policy = response.headers().get("Content-Security-Policy").map(|policy| policy.to_str().expect("text"));
            assert!(policy.is_some_and(|policy| policy.starts_with("default-src 'none'")), "{address}: {policy:?}");
        }
    }
}
