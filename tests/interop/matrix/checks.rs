//! One row: the server is added as a user would, and everything it has is tried.

use std::collections::BTreeMap;
use std::time::Duration;

use host::template;
use host::view::{CallFailure, HostEvent, ServerState};
use mcp_proto::types::{CallToolResult, CompletionReference, ContentBlock, LogLevel};
use serde_json::{Value, json};
use testkit::app::App;
use tokio::time::timeout;

use super::features::{Feature, columns};
use super::servers::{Remote, Row, Transport, config};
use super::user::{WORDS, answers_all};
use crate::user::{activity, call_id, next, object, text, whole_catalog};

/// How long one check may take, on a machine where four rows run at once.
const EACH: Duration = Duration::from_secs(15);

/// How one check went.
pub(crate) enum Cell {
    Works,
    NotInRevision,
    /// The SDK does not have it, for this reason.
    Lacking(&'static str),
    Failed(String),
}

/// How a row went.
pub(crate) struct Checked {
    /// How revision and transport were found.
    pub(crate) found: String,
    pub(crate) cells: Vec<(Feature, Cell)>,
}

impl Checked {
    /// A row that ended before its features were tried.
    pub(crate) fn broken(why: &str) -> Self {
        let cells = vec![(Feature::Call, Cell::Failed(why.to_owned()))];
        Self { found: String::new(), cells }
    }

    pub(crate) fn failures(&self) -> impl Iterator<Item = (&'static str, &str)> {
        self.cells.iter().filter_map(|(feature, cell)| match cell {
            Cell::Failed(why) => Some((feature.name(), why.as_str())),
            _ => None,
        })
    }
}

type Check = Result<(), String>;

/// Says what was seen instead, unless this holds.
fn holds(condition: bool, seen: impl std::fmt::Debug) -> Check {
    if condition { Ok(()) } else { Err(format!("{seen:?}").chars().take(400).collect()) }
}

/// Tries everything, in order.
pub(crate) async fn row(row: &Row, remote: &Remote) -> Checked {
    let name = row.server.name;
    let config = config(row, remote).await;
    let app = App::start(vec![(name, config)]).await;
    let folder = std::fs::canonicalize(app.folder.path()).unwrap();
    let user = answers_all(&app, folder);
    app.host.start_server(name.into()).await.unwrap().unwrap();
    let is_over = |s: &ServerState| matches!(s, ServerState::Ready | ServerState::Failed(_));
    let view = app.until(name, "ready or failed", |s| is_over(&s.state)).await;
    assert!(view.state == ServerState::Ready, "{row}: it is ready: {:?}\n{}", view.state, app.activity(name).await);
    let spoken = view.facts.as_ref().map(|facts| facts.revision);
    assert_eq!(spoken, Some(row.revision), "{row}: the revision that was found or asked for is spoken");
    let found = view.connected.as_ref().map_or_else(|| "probed".to_owned(), |connected| connected.how.clone());
    let transport = view.connected.map(|connected| format!("{:?}", connected.transport));
    let expected = match row.transport {
        Transport::Stdio => None,
        Transport::StreamableHttp => Some("StreamableHttp".to_owned()),
        Transport::HttpSse => Some("HttpSse".to_owned()),
    };
    assert_eq!(transport, expected, "{row}: the transport is the one that the server has");
    whole_catalog(&app, name).await;
    let one = One { app: &app, row, server: name };
    let mut cells = Vec::new();
    for feature in columns(row.revision) {
        let lack = row.server.lacks.iter().find(|(lacking, _)| *lacking == feature);
        let cell = match lack {
            _ if !feature.is_in(row.revision, row.transport == Transport::StreamableHttp) => Cell::NotInRevision,
            Some((_, why)) => Cell::Lacking(why),
            None => match timeout(EACH, one.check(feature)).await {
                Ok(Ok(())) => Cell::Works,
                Ok(Err(seen)) => Cell::Failed(seen),
                Err(_) => Cell::Failed(format!("not done after {EACH:?}")),
            },
        };
        cells.push((feature, cell));
    }
    user.abort();
    app.host.close().await;
    Checked { found, cells }
}

struct One<'a> {
    app: &'a App,
    row: &'a Row,
    server: &'static str,
}

impl One<'_> {
    async fn check(&self, feature: Feature) -> Check {
        match feature {
            Feature::Pages => self.pages().await,
            Feature::Call => self.says("add", json!({ "a": 2, "b": 3 }), "= 5").await,
            Feature::Structured => self.structured().await,
            Feature::ToolError => self.tool_error().await,
            Feature::Content => self.content(&["text", "image", "resource"]).await,
            Feature::NewerContent => self.content(&["audio", "resource_link"]).await,
            Feature::Progress => self.progress().await,
            Feature::Log => self.log().await,
            Feature::Prompts => self.prompts().await,
            Feature::Completion => self.completes("harbour", "am", &[], &["Amsterdam"]).await,
            Feature::Context => self.completes("ship", "", &[("harbour", "Bergen")], &["Borealis"]).await,
            Feature::Resources => self.resources().await,
            Feature::ListChanged => self.list_changed().await,
            Feature::Subscription => self.subscription().await,
            Feature::Form => self.says("ask_user", json!({}), "accept").await,
            Feature::Url => self.url().await,
            Feature::Sampling => self.says("ask_model", json!({}), WORDS).await,
            Feature::Roots => self.says("list_folders", json!({}), "file://").await,
            Feature::Cancel => self.cancel().await,
            Feature::Resumption => self.says("nap", json!({}), "Awake again").await,
            Feature::Tasks(_) => self.says("do_later", json!({}), self.done_later()).await,
        }
    }

    async fn call(&self, tool: &str, arguments: Value) -> Result<CallToolResult, String> {
        self.call_as(&call_id(), tool, arguments).await.map_err(|error| format!("{tool}: {error}"))
    }

    async fn call_as(&self, id: &str, tool: &str, arguments: Value) -> Result<CallToolResult, CallFailure> {
        let (id, server, tool) = (id.to_owned(), self.server.to_owned(), tool.to_owned());
        self.app.host.call_tool(id, server, tool, object(&arguments), None).await.map(|(result, _)| result)
    }

    async fn says(&self, tool: &str, arguments: Value, words: &str) -> Check {
        let result = self.call(tool, arguments).await?;
        holds(!result.is_error && text(&result).contains(words), result)
    }

    fn done_later(&self) -> &'static str {
        if self.row.revision.is_modern() { "The quay is swept." } else { "Done later." }
    }

    /// [pagination-follow-cursor]
    async fn pages(&self) -> Check {
        let entries = activity(self.app, self.server).await;
        let asked = entries.iter().filter(|e| e.sent && e.method.as_deref() == Some("tools/list")).count();
        let catalog = whole_catalog(self.app, self.server).await;
        let [tools, ..] = catalog.counts();
        holds(asked > 1 && tools > 10 && catalog.tool("add_tool").is_some(), (asked, tools))
    }

    async fn structured(&self) -> Check {
        let result = self.call("add", json!({ "a": 2, "b": 3 })).await?;
        let given = serde_json::to_value(&result).unwrap_or_default();
        holds(given["structuredContent"]["sum"].as_f64() == Some(5.0), given)
    }

    async fn tool_error(&self) -> Check {
        let result = self.call("fail", json!({ "reason": "no wind" })).await?;
        holds(result.is_error && text(&result).contains("no wind"), result)
    }

    async fn content(&self, kinds: &[&str]) -> Check {
        let result = self.call("show_everything", json!({})).await?;
        let given = serde_json::to_value(&result).unwrap_or_default();
        let blocks: Vec<&str> =
            given["content"].as_array().into_iter().flatten().filter_map(|b| b["type"].as_str()).collect();
        let unknown = result.content.iter().any(|block| matches!(block, ContentBlock::Unknown(_)));
        holds(!unknown && kinds.iter().all(|kind| blocks.contains(kind)), blocks)
    }

    async fn progress(&self) -> Check {
        let mut events = self.app.host.events();
        let id = call_id();
        let listening = async {
            let mut most: (u64, f64) = (0, 0.0);
            loop {
                let (progress, is_over) = next(&mut events, "news of the call", |event| match event {
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
        let calling = self.call_as(&id, "slow_report", json!({ "seconds": 0.4, "steps": 4 }));
        let ((count, last), result) = tokio::join!(listening, calling);
        holds(result.is_ok_and(|r| !r.is_error) && count == 4 && (last - 4.0).abs() < 0.01, (count, last))
    }

    async fn log(&self) -> Check {
        let capabilities = self.app.server(self.server).await.facts.map(|facts| facts.capabilities);
        holds(
            capabilities.as_ref().is_some_and(|c| c.logging.is_some()) || self.row.revision.is_modern(),
            &capabilities,
        )?;
        self.app.host.set_log_level(self.server.into(), LogLevel::Warning).await.map_err(|e| e.to_string())?;
        let words = format!("A gull on the mast of {}.", call_id());
        self.call("log_something", json!({ "text": words })).await?;
        self.seen("notifications/message", "warning").await
    }

    /// Waits until a notification with these words is in the activity.
    async fn seen(&self, method: &str, words: &str) -> Check {
        let mut events = self.app.host.events();
        loop {
            let entries = activity(self.app, self.server).await;
            if entries.iter().any(|e| !e.sent && e.method.as_deref() == Some(method) && e.body.contains(words)) {
                return Ok(());
            }
            events.next().await;
        }
    }

    async fn prompts(&self) -> Check {
        let given =
            BTreeMap::from([("harbour".to_owned(), "Bergen".to_owned()), ("ship".to_owned(), "Borealis".to_owned())]);
        let prompt = self.app.host.get_prompt(call_id(), self.server.into(), "greet_ship".into(), given).await;
        let prompt = prompt.map_err(|error| error.to_string())?;
        let words = serde_json::to_string(&prompt.messages).unwrap_or_default();
        holds(words.contains("Borealis"), words)
    }

    async fn completes(&self, argument: &str, typed: &str, earlier: &[(&str, &str)], values: &[&str]) -> Check {
        let reference = CompletionReference::Prompt { name: "greet_ship".into() };
        let earlier = earlier.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        let offered =
            self.app.host.complete(self.server.into(), reference, argument.into(), typed.into(), earlier).await;
        let offered = offered.map_err(|error| error.to_string())?;
        holds(offered.values == values, offered.values)
    }

    async fn read(&self, uri: &str) -> Result<Value, String> {
        let read = self.app.host.read_resource(call_id(), self.server.into(), uri.to_owned()).await;
        read.map(|contents| json!(contents)).map_err(|error| format!("{uri}: {error}"))
    }

    async fn resources(&self) -> Check {
        let words = self.read("harbour:///welcome.txt").await?;
        holds(words[0]["text"].as_str().is_some_and(|t| t.contains("elcome")), &words)?;
        let chart = self.read("harbour:///chart.png").await?;
        holds(chart[0]["blob"].as_str().is_some_and(|b| b.starts_with("iVBORw0KGgo")), &chart)?;
        // A note of its own: rows that run beside this one write notes, too.
        let name = call_id();
        self.call("write_note", json!({ "name": name, "text": "by template" })).await?;
        let uri = template::expand("note:///{name}", &BTreeMap::from([("name".to_owned(), name)]));
        let note = self.read(&uri.map_err(|error| error.to_string())?).await?;
        holds(note[0]["text"] == "by template", note)
    }

    async fn list_changed(&self) -> Check {
        let name = format!("tool_{}", call_id().replace('-', "_"));
        self.call("add_tool", json!({ "name": name })).await?;
        let mut events = self.app.host.events();
        loop {
            let catalog = self.app.host.catalog(self.server.into()).await.map_err(|e| e.to_string())?;
            if catalog.tool(&name).is_some() {
                return Ok(());
            }
            events.next().await;
        }
    }

    async fn subscription(&self) -> Check {
        const NOTE: &str = "note:///log";
        self.call("write_note", json!({ "name": "log", "text": "The first line." })).await?;
        self.app.host.subscribe(self.server.into(), NOTE.into(), true).await.map_err(|e| e.to_string())?;
        let mut events = self.app.host.events();
        // A modern subscription lives from its acknowledgement on, so the change is made until it is seen.
        loop {
            self.call("write_note", json!({ "name": "log", "text": call_id() })).await?;
            let told = next(&mut events, "an update", |event| match event {
                HostEvent::ResourceUpdated { uri, .. } if uri == NOTE => Some(()),
                _ => None,
            });
            if timeout(Duration::from_millis(500), told).await.is_ok() {
                break;
            }
        }
        self.app.host.subscribe(self.server.into(), NOTE.into(), false).await.map_err(|e| e.to_string())
    }

    async fn url(&self) -> Check {
        let result = self.call("ask_url", json!({})).await?;
        let opened = self.app.platform.opened.lock().unwrap().clone();
        holds(
            !result.is_error && opened.iter().any(|url| url.starts_with("https://permits.example.com/")),
            (opened, result),
        )
    }

    async fn cancel(&self) -> Check {
        let mut events = self.app.host.events();
        let id = call_id();
        let begun = next(&mut events, "progress", |event| match event {
            HostEvent::CallChanged(view) if view.id == id && view.progress.is_some() => Some(()),
            _ => None,
        });
        let cancelling = async {
            begun.await;
            self.app.host.cancel_call(id.clone()).await
        };
        let calling = self.call_as(&id, "slow_report", json!({ "seconds": 20, "steps": 200 }));
        let (cancelled, ended) = tokio::join!(cancelling, calling);
        cancelled.map_err(|error| error.to_string())?;
        holds(ended == Err(CallFailure::Cancelled), ended)?;
        self.says("add", json!({ "a": 1, "b": 1 }), "= 2").await
    }
}
