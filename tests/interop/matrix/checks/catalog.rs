//! Checks of a server's lists: read page by page, cached while fresh, read again after a change. Also prompts,
//! completion and resources.

use std::collections::BTreeMap;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use host::view::HostEvent;
use mcp_proto::types::{CompletionReference, Icon};
use offers::uri_template;
use serde_json::{Value, json};
use supervision::activity::ActivityEntry;
use tokio::time::timeout;

use super::{FeatureCheckResult, RowCheck, require};
use crate::user::{next_call_id, wait_for_activity, wait_for_complete_catalog, wait_for_event};

impl RowCheck<'_> {
    /// Checks that all tools are listed. Pages of these servers have at most ten entries, so the host has to follow
    /// cursors. Covers the MCP requirement [pagination-follow-cursor].
    pub(super) async fn check_pagination(&self) -> FeatureCheckResult {
        let catalog = wait_for_complete_catalog(self.app, self.server).await;
        let ([tools, ..], requests) = (catalog.entry_counts(), self.count_requests("tools/list").await);
        require(requests > 1 && tools > 10 && catalog.tool("add_tool").is_some(), (requests, tools))
    }

    /// Checks that the host received the icons of a tool, a prompt and a resource.
    pub(super) async fn check_icons(&self) -> FeatureCheckResult {
        let catalog = wait_for_complete_catalog(self.app, self.server).await;
        let prompt = catalog.prompts.iter().find(|prompt| prompt.name() == "greet_ship");
        let resource = catalog.resources.iter().find(|resource| resource.name() == "harbour:///welcome.txt");
        let all = [
            catalog.tool("add").map(|tool| tool.icons),
            prompt.and_then(|prompt| prompt.read().ok()).map(|prompt| prompt.icons),
            resource.and_then(|resource| resource.read().ok()).map(|resource| resource.icons),
        ];
        let is_picture = |icon: &Icon| icon.src.starts_with("data:image/png;base64,iVBORw0KGgo");
        require(all.iter().all(|icons| icons.as_ref().is_some_and(|icons| icons.iter().any(is_picture))), all)
    }

    /// Checks that the host does not request a list again during the lifetime that the server stated. Covers the MCP
    /// requirement [cache-ttl-positive].
    pub(super) async fn check_caching(&self) -> FeatureCheckResult {
        let [.., templates] = wait_for_complete_catalog(self.app, self.server).await.fresh_until;
        let now = SystemTime::now().duration_since(UNIX_EPOCH).map_err(|error| error.to_string())?.as_millis();
        require(templates.is_some_and(|until| u128::from(until) > now), ("templates", templates, now))?;
        let read = |refresh| {
            let uri = "harbour:///chart.png".to_owned();
            self.app.host.read_resource_with_freshness(next_call_id(), self.server.to_owned(), uri, refresh)
        };
        let first = read(true).await.map_err(|error| error.to_string())?;
        let before = self.count_requests("resources/read").await;
        let second = read(false).await.map_err(|error| error.to_string())?;
        require(!first.cached && first.fresh_until.is_some(), &first)?;
        require(second.cached && second.contents == first.contents, &second)?;
        let after = self.count_requests("resources/read").await;
        require(before == after && before > 0, (before, after))
    }

    pub(super) async fn check_list_changed(&self) -> FeatureCheckResult {
        let name = format!("tool_{}", next_call_id().replace('-', "_"));
        self.call("add_tool", json!({ "name": name })).await?;
        // An expired list is read again as well, so the notification of the change must have arrived first.
        let is_list_changed =
            |e: &ActivityEntry| !e.sent && e.method.as_deref() == Some("notifications/tools/list_changed");
        wait_for_activity(self.app, self.server, "the notification of changed tools", is_list_changed).await;
        let mut events = self.app.host.events();
        loop {
            let catalog = self.app.host.catalog(self.server.into()).await.map_err(|e| e.to_string())?;
            if catalog.tool(&name).is_some() {
                return Ok(());
            }
            events.next().await;
        }
    }

    pub(super) async fn check_prompts(&self) -> FeatureCheckResult {
        let given =
            BTreeMap::from([("harbour".to_owned(), "Bergen".to_owned()), ("ship".to_owned(), "Borealis".to_owned())]);
        let prompt = self.app.host.get_prompt(next_call_id(), self.server.into(), "greet_ship".into(), given).await;
        let prompt = prompt.map_err(|error| error.to_string())?;
        let words = serde_json::to_string(&prompt.messages).unwrap_or_default();
        require(words.contains("Borealis"), words)
    }

    pub(super) async fn check_completion(
        &self,
        argument: &str,
        typed: &str,
        earlier: &[(&str, &str)],
        values: &[&str],
    ) -> FeatureCheckResult {
        let reference = CompletionReference::Prompt { name: "greet_ship".into() };
        let earlier = earlier.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        let offered = self
            .app
            .host
            .complete_argument(self.server.into(), reference, argument.into(), typed.into(), earlier)
            .await;
        let offered = offered.map_err(|error| error.to_string())?;
        require(offered.values == values, offered.values)
    }

    pub(super) async fn read_resource(&self, uri: &str) -> Result<Value, String> {
        let read = self.app.host.read_resource(next_call_id(), self.server.into(), uri.to_owned()).await;
        read.map(|contents| json!(contents)).map_err(|error| format!("{uri}: {error}"))
    }

    pub(super) async fn check_resources(&self) -> FeatureCheckResult {
        let words = self.read_resource("harbour:///welcome.txt").await?;
        require(words[0]["text"].as_str().is_some_and(|t| t.contains("elcome")), &words)?;
        let chart = self.read_resource("harbour:///chart.png").await?;
        require(chart[0]["blob"].as_str().is_some_and(|b| b.starts_with("iVBORw0KGgo")), &chart)?;
        // A note with a unique name, because concurrent rows write notes as well.
        let name = next_call_id();
        self.call("write_note", json!({ "name": name, "text": "by template" })).await?;
        let uri = uri_template::expand("note:///{name}", &BTreeMap::from([("name".to_owned(), name)]));
        let note = self.read_resource(&uri.map_err(|error| error.to_string())?).await?;
        require(note[0]["text"] == "by template", note)
    }

    pub(super) async fn check_subscription(&self) -> FeatureCheckResult {
        const NOTE_URI: &str = "note:///log";
        self.call("write_note", json!({ "name": "log", "text": "The first line." })).await?;
        self.app.host.subscribe(self.server.into(), NOTE_URI.into(), true).await.map_err(|e| e.to_string())?;
        let mut events = self.app.host.events();
        // A subscription is active only after its acknowledgement, so the change is repeated until it is observed.
        loop {
            self.call("write_note", json!({ "name": "log", "text": next_call_id() })).await?;
            let update = wait_for_event(&mut events, "an update", |event| match event {
                HostEvent::ResourceUpdated { uri, .. } if uri == NOTE_URI => Some(()),
                _ => None,
            });
            if timeout(Duration::from_millis(500), update).await.is_ok() {
                break;
            }
        }
        self.app.host.subscribe(self.server.into(), NOTE_URI.into(), false).await.map_err(|e| e.to_string())
    }
}
