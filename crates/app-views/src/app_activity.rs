//! Entries in the activity log of a server about its shown app: what the app requests of the user, and its invalid
//! messages. Without contents, and at a limited rate. Tool calls, reads and sampling have entries of the host.

use std::collections::HashMap;

use host::Host;
use mcp_apps::{AppRequest, MessageDirection, ViewFault};
use supervision::token_bucket::TokenBucket;

/// Maximum number of entries about one topic in a burst. Further entries are omitted and counted.
const MAX_ENTRY_BURST: u64 = 10;
/// Number of entries per second about one topic after a burst.
const ENTRIES_PER_SECOND: f64 = 0.1;

/// Topic of an entry. Each has a rate of its own, so that an app can't hide one behind many of another.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum AppActivityTopic {
    Link,
    Files,
    Message,
    ModelContext,
    Fault,
}

/// Writer of the entries about one shown app.
pub(crate) struct AppActivity {
    host: Host,
    server: String,
    tool: String,
    rates: HashMap<AppActivityTopic, TokenBucket>,
    /// Descriptions of the requests that have an entry and no outcome yet, by the number of the request.
    requested: HashMap<u64, &'static str>,
    /// Number of entries that were omitted since the last entry.
    omitted: u64,
}

impl AppActivity {
    pub(crate) fn new(host: Host, server: String, tool: String) -> Self {
        Self { host, server, tool, rates: HashMap::new(), requested: HashMap::new(), omitted: 0 }
    }

    /// Adds an entry about a request, if it is one to the user, except for display modes.
    pub(crate) async fn log_request(&mut self, number: u64, request: &AppRequest) {
        let (topic, act) = match request {
            AppRequest::OpenLink { .. } => (AppActivityTopic::Link, "open a link"),
            AppRequest::DownloadFile { .. } => (AppActivityTopic::Files, "save files"),
            AppRequest::SendMessage { .. } => (AppActivityTopic::Message, "add a message to the conversation"),
            _ => return,
        };
        if self.admits(topic) {
            self.requested.insert(number, act);
            self.log(&format!("requests to {act}")).await;
        }
    }

    /// Adds an entry about the outcome of a request, if the request has an entry. `outcome` is such as "refused".
    pub(crate) async fn log_outcome(&mut self, number: u64, outcome: &str) {
        if let Some(act) = self.requested.remove(&number) {
            self.log(&format!("requested to {act}, which was {outcome}")).await;
        }
    }

    /// Adds an entry about new context for the model. `is_empty` is set if the app removed its context.
    pub(crate) async fn log_model_context(&mut self, is_empty: bool) {
        if self.admits(AppActivityTopic::ModelContext) {
            self.log(if is_empty { "removed its context for the model" } else { "gave context for the model" }).await;
        }
    }

    /// Adds an entry about a message of the app that was not processed as sent, such as a forged one.
    pub(crate) async fn log_fault(&mut self, fault: &ViewFault) {
        if fault.direction == MessageDirection::FromPage && self.admits(AppActivityTopic::Fault) {
            let kind = serde_json::to_value(fault.kind).unwrap_or_default();
            let kind = kind.as_str().unwrap_or_default();
            self.log(&format!("sent a message that was not processed as sent ({kind})")).await;
        }
    }

    /// Adds an entry about omitted entries, if there are any, at the end of the app.
    pub(crate) async fn log_end(&mut self) {
        if self.omitted > 0 {
            self.log("was closed").await;
        }
    }

    /// Returns `true` if an entry about this topic may be added now. Otherwise counts it as omitted.
    fn admits(&mut self, topic: AppActivityTopic) -> bool {
        let rate = self.rates.entry(topic).or_insert_with(|| TokenBucket::new(MAX_ENTRY_BURST, ENTRIES_PER_SECOND));
        let admits = rate.try_take(1);
        self.omitted += u64::from(!admits);
        admits
    }

    async fn log(&mut self, words: &str) {
        let words = match std::mem::take(&mut self.omitted) {
            0 => words.to_owned(),
            omitted => format!("{words} ({omitted} earlier entries were omitted)"),
        };
        // The host may have shut down, with its logs.
        let _ = self.host.log_app_activity(self.server.clone(), self.tool.clone(), words).await;
    }
}
