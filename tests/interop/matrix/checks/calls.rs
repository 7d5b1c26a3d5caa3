//! Checks of the contents of results, and of progress and cancellation of calls.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use domain::call::CallFailure;
use host::view::HostEvent;
use mcp_proto::types::{ContentBlock, LogLevel};
use serde_json::json;
use supervision::activity::ActivityKind;

use super::super::servers::Transport;
use super::{FeatureCheckResult, RowCheck, require};
use crate::user::{activity_entries, next_call_id, result_text, wait_for_activity, wait_for_event};

impl RowCheck<'_> {
    pub(super) async fn check_structured_content(&self) -> FeatureCheckResult {
        let result = self.call("add", json!({ "a": 2, "b": 3 })).await?;
        let given = serde_json::to_value(&result).unwrap_or_default();
        require(given["structuredContent"]["sum"].as_f64() == Some(5.0), given)
    }

    pub(super) async fn check_tool_error(&self) -> FeatureCheckResult {
        let result = self.call("fail", json!({ "reason": "no wind" })).await?;
        require(result.is_error && result_text(&result).contains("no wind"), result)
    }

    /// Checks that the result contains a content block of each of these kinds with the expected content.
    pub(super) async fn check_content(&self, kinds: &[&str]) -> FeatureCheckResult {
        let result = self.call("show_everything", json!({})).await?;
        let is_whole = |block: &ContentBlock| match block {
            ContentBlock::Text(text) => !text.text.is_empty(),
            ContentBlock::Image(image) => image.mime_type == "image/png" && image.data.starts_with("iVBORw0KGgo"),
            ContentBlock::Audio(audio) => audio.mime_type == "audio/wav" && audio.data.starts_with("UklGR"),
            ContentBlock::Resource(embedded) => embedded.resource.text.is_some() || embedded.resource.blob.is_some(),
            ContentBlock::ResourceLink(link) => !link.uri.is_empty(),
            ContentBlock::ToolUse(_) | ContentBlock::ToolResult(_) | ContentBlock::Unknown(_) => false,
        };
        let given = serde_json::to_value(&result).unwrap_or_default();
        let blocks: Vec<&str> =
            given["content"].as_array().into_iter().flatten().filter_map(|b| b["type"].as_str()).collect();
        require(result.content.iter().all(is_whole) && kinds.iter().all(|kind| blocks.contains(kind)), blocks)
    }

    /// Checks that a resource that a tool result links to can be read. Covers the MCP requirement
    /// [tools-resource-link-unlisted].
    pub(super) async fn check_resource_link(&self) -> FeatureCheckResult {
        let result = self.call("show_everything", json!({})).await?;
        let link = result.content.iter().find_map(|block| match block {
            ContentBlock::ResourceLink(link) => Some(link.uri.clone()),
            _ => None,
        });
        let uri = link.ok_or_else(|| format!("the result should contain a link: {result:?}"))?;
        let read = self.read_resource(&uri).await?;
        require(read[0]["uri"] == uri.as_str(), read)
    }

    pub(super) async fn check_progress(&self) -> FeatureCheckResult {
        let mut events = self.app.host.events();
        let id = next_call_id();
        let listening = async {
            let mut most: (u64, f64) = (0, 0.0);
            loop {
                let (progress, is_over) = wait_for_event(&mut events, "a change of the call", |event| match event {
                    HostEvent::CallChanged(view) if view.id == id => {
                        Some((view.progress.clone(), view.state.is_over()))
                    }
                    _ => None,
                })
                .await;
                if let Some(progress) = progress {
                    most = (progress.count, progress.progress);
                }
                if is_over {
                    return most;
                }
            }
        };
        let calling = self.call_with_id(&id, "slow_report", json!({ "seconds": 0.4, "steps": 4 }));
        let ((count, last), result) = tokio::join!(listening, calling);
        require(result.is_ok_and(|r| !r.is_error) && count == 4 && (last - 4.0).abs() < 0.01, (count, last))
    }

    pub(super) async fn check_log_messages(&self) -> FeatureCheckResult {
        let capabilities = self.app.server(self.server).await.facts.map(|facts| facts.capabilities);
        require(
            capabilities.as_ref().is_some_and(|c| c.logging.is_some()) || self.row.revision.is_modern(),
            &capabilities,
        )?;
        self.app.host.set_log_level(self.server.into(), LogLevel::Warning).await.map_err(|e| e.to_string())?;
        let words = format!("A gull on the mast of {}.", next_call_id());
        self.call("log_something", json!({ "text": words })).await?;
        wait_for_activity(self.app, self.server, &words, |e| {
            e.kind == ActivityKind::Log && e.preview().contains(&words)
        })
        .await;
        Ok(())
    }

    /// Cancels a call, and checks that it ends in the host and that the server reports the cancellation on standard
    /// error.
    pub(super) async fn check_cancellation(&self) -> FeatureCheckResult {
        // Identifies the call in the server's report, because concurrent rows cancel calls as well.
        static LAST_CALL_NUMBER: AtomicU64 = AtomicU64::new(200);
        let steps = LAST_CALL_NUMBER.fetch_add(1, Ordering::Relaxed);
        let mut events = self.app.host.events();
        let id = next_call_id();
        let begun = wait_for_event(&mut events, "progress", |event| match event {
            HostEvent::CallChanged(view) if view.id == id && view.progress.is_some() => Some(()),
            _ => None,
        });
        let cancelling = async {
            begun.await;
            self.app.host.cancel_call(id.clone()).await
        };
        let calling = self.call_with_id(&id, "slow_report", json!({ "seconds": 20, "steps": steps }));
        let (cancelled, ended) = tokio::join!(cancelling, calling);
        cancelled.map_err(|error| error.to_string())?;
        require(ended == Err(CallFailure::Cancelled), ended)?;
        while !self.has_reported_cancellation(&format!("of {steps}")).await {
            // sleep: polls until the condition holds, which no event reports.
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        self.expect_text("add", json!({ "a": 1, "b": 1 }), "= 2").await
    }

    /// Returns `true` if the server has reported the cancellation of a call on standard error, in a line that ends with
    /// `end`.
    async fn has_reported_cancellation(&self, end: &str) -> bool {
        let fits = |line: &str| line.contains("slow_report was cancelled") && line.ends_with(end);
        if self.row.transport == Transport::Stdio {
            let entries = activity_entries(self.app, self.server).await;
            return entries.iter().any(|entry| entry.kind == ActivityKind::Stderr && fits(&entry.preview()));
        }
        self.remote.process(self.row.transport).await.has_error_line(fits)
    }

    /// Checks that a stream that the server closes is resumed, and that the response arrives on it. Covers the MCP
    /// requirement [http-sse-resume-last-event-id].
    pub(super) async fn check_resumption(&self) -> FeatureCheckResult {
        self.expect_text("nap", json!({}), "Awake again").await?;
        let notes = self.app.activity(self.server).await;
        require(notes.contains("was resumed"), "no stream was resumed")
    }

    /// Makes a call that the server runs as a task. Checks that the result contains `words`, and that the host
    /// requested it with the method `fetched`.
    pub(super) async fn check_task(&self, words: &str, fetched: &str) -> FeatureCheckResult {
        self.expect_text("do_later", json!({}), words).await?;
        let requests = self.count_requests(fetched).await;
        require(requests > 0, (fetched, requests))
    }
}
