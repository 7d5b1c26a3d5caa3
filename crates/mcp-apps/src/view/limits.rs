//! Limits of one view, which bound the memory and time that a hostile page can use.
//!
//! A host has limits of its own, on its queues, on the number of views, and on requests that the user refuses or the app
//! withdraws. In Drawbridge these are constants in `app-views/src/lib.rs`, `app-views/src/shown_views.rs`,
//! `app-views/src/view_task.rs`, `app-views/src/requests.rs` and `app-views/src/user_requests.rs`. The page limits
//! messages before it delivers them, in `ui/src/apps/message-sender.ts`.

use std::time::Duration;

/// Maximum size of one message of the app page in bytes.
pub const MAX_PAGE_MESSAGE_BYTES: usize = 16 * 1024 * 1024;
/// Average number of messages of the app page that are processed per second.
pub const PAGE_MESSAGES_PER_SECOND: u32 = 100;
/// Number of messages that the app page may send in a burst after a pause.
pub const MAX_PAGE_MESSAGE_BURST: u32 = 200;
/// Size in bytes for which a message counts as one additional message toward the rate limit.
pub const MESSAGE_BYTES_PER_RATE_TOKEN: usize = 256 * 1024;
/// Maximum number of the app page's requests that wait for the host's response.
pub const MAX_PENDING_PAGE_REQUESTS: usize = 32;
/// Maximum total size in bytes of the app page's requests that wait for the host's response.
pub const MAX_PENDING_PAGE_REQUEST_BYTES: usize = 32 * 1024 * 1024;
/// Maximum number of the app page's messages that are retained until the page is initialized.
pub const MAX_MESSAGES_BEFORE_HANDSHAKE: usize = 32;
/// Maximum total size in bytes of the app page's messages that are retained until the page is initialized.
pub const MAX_MESSAGE_BYTES_BEFORE_HANDSHAKE: usize = 1024 * 1024;
/// Maximum size of a report of the diagnostic script in bytes.
pub const MAX_DIAGNOSTIC_REPORT_BYTES: usize = 16 * 1024;
/// Average number of reports of the diagnostic script that are processed per second.
pub const DIAGNOSTIC_REPORTS_PER_SECOND: u32 = 20;
/// Number of reports that the diagnostic script may send in a burst after a pause.
pub const MAX_DIAGNOSTIC_REPORT_BURST: u32 = 100;
/// Number of queued outputs of a view at which further messages of the app page are dropped.
pub const MAX_QUEUED_VIEW_OUTPUTS: usize = 1024;

/// Maximum size, in bytes of JSON, of a message that the app page adds to the conversation, or of its context for
/// models.
pub const MAX_PAGE_CONTENT_FOR_MODEL_BYTES: usize = 1024 * 1024;
/// Maximum size of a log message of the app page in bytes of JSON.
pub const MAX_LOG_MESSAGE_BYTES: usize = 64 * 1024;
/// Maximum length in bytes of a link that the app page requests to open, as sent and in its normalized form.
pub const MAX_LINK_BYTES: usize = 4 * 1024;
/// Maximum length in bytes of the URI of a resource that the app page requests to read.
pub const MAX_RESOURCE_URI_BYTES: usize = 8 * 1024;
/// Maximum number of files in one download request of the app page.
pub const MAX_FILES_PER_DOWNLOAD: usize = 16;
/// Maximum length in bytes of names, versions and cursors that the app page sends.
pub const MAX_NAME_OR_CURSOR_BYTES: usize = 1024;
/// Maximum width and height of a view in CSS pixels.
pub const MAX_VIEW_PIXELS: u32 = 16_384;

/// Maximum number of tools that one app may offer, as the specification's draft recommends.
pub const MAX_APP_TOOLS: usize = 50;
/// Maximum size of the definition of one tool of an app in bytes of JSON.
pub const MAX_APP_TOOL_BYTES: usize = 64 * 1024;
/// Maximum total size of the definitions of an app's tools in bytes of JSON.
pub const MAX_APP_TOOL_LIST_BYTES: usize = 256 * 1024;
/// Maximum number of result pages that are requested of an app's list of tools.
pub const MAX_APP_TOOL_LIST_PAGES: usize = 10;
/// Maximum number of concurrent calls of the tools that one app provides. Calls that an app makes are requests, see
/// [`MAX_PENDING_PAGE_REQUESTS`].
pub const MAX_APP_TOOL_CALLS: usize = 8;
/// Maximum size of the result of an app's tool in bytes, as the specification's draft recommends.
pub const MAX_APP_TOOL_RESULT_BYTES: usize = 10_000_000;
/// Timeout of calling or listing an app's tools, as the specification's draft recommends.
pub const APP_TOOL_REQUEST_TIMEOUT: Duration = Duration::from_secs(30);
/// Minimum time between two reported changes of an app's list of tools.
pub const APP_TOOL_LIST_CHANGE_INTERVAL: Duration = Duration::from_secs(1);
/// Time in which the app page can save its state before it is removed.
pub const PAGE_TEARDOWN_TIMEOUT: Duration = Duration::from_secs(2);
