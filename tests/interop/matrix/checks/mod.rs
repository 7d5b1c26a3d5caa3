//! Checks a row of the matrix: adds the server like a user, and uses every feature that it has.

mod calls;
mod catalog;
mod server_requests;

use std::time::Duration;
use testkit::calls::UserCalls as _;

use domain::call::CallFailure;
use host::view::ServerState;
use mcp_proto::types::CallToolResult;
use serde_json::{Value, json};
use testkit::app::TestApp;
use tokio::time::timeout;

use super::features::Feature;
use super::servers::{HttpProcesses, MatrixRow, Transport, row_config};
use super::user::{MODEL_RESPONSE, spawn_deciding_user};
use crate::user::{next_call_id, result_text, sent_methods, to_json_object, wait_for_complete_catalog};

/// Maximum time of a single check. Four rows run concurrently beside other test suites, so this is far above the usual
/// second.
const CHECK_TIMEOUT: Duration = Duration::from_secs(60);

/// Outcome of checking one feature of a server, which is a cell of the table.
pub(crate) enum FeatureCheckOutcome {
    Works,
    NotInRevision,
    /// The SDK lacks the feature, for the reason in the text.
    Lacking(&'static str),
    Failed(String),
}

/// Outcomes of the checks of all features for one row of the matrix.
pub(crate) struct MatrixRowResult {
    /// Protocol revision and transport that the host detected, or that the user selected.
    pub(crate) found: String,
    pub(crate) cells: Vec<(Feature, FeatureCheckOutcome)>,
}

impl MatrixRowResult {
    /// Returns the result of a row that failed, with the cause `why`, before its features were checked.
    pub(crate) fn failed(why: &str) -> Self {
        let cells = vec![(Feature::Call, FeatureCheckOutcome::Failed(why.to_owned()))];
        Self { found: String::new(), cells }
    }

    pub(crate) fn failures(&self) -> impl Iterator<Item = (&'static str, &str)> {
        self.cells.iter().filter_map(|(feature, cell)| match cell {
            FeatureCheckOutcome::Failed(why) => Some((feature.name(), why.as_str())),
            _ => None,
        })
    }
}

type FeatureCheckResult = Result<(), String>;

/// Returns an error that contains the observed value, unless the condition holds.
fn require(condition: bool, observed: impl std::fmt::Debug) -> FeatureCheckResult {
    if condition { Ok(()) } else { Err(format!("{observed:?}").chars().take(400).collect()) }
}

/// Checks all features of a row one after the other.
pub(crate) async fn check_row(row: &MatrixRow, remote: &HttpProcesses) -> MatrixRowResult {
    let name = row.server.name;
    let config = row_config(row, remote).await;
    let app = TestApp::start(vec![(name, config)]).await;
    let folder = std::fs::canonicalize(app.folder.path()).unwrap();
    let user = spawn_deciding_user(&app, folder);
    app.host.start_server(name.into()).await.unwrap();
    let is_over = |s: &ServerState| matches!(s, ServerState::Ready | ServerState::Failed(_));
    let view = app.until(name, "ready or failed", |s| is_over(&s.state)).await;
    assert!(
        view.state == ServerState::Ready,
        "{row}: the server is ready: {:?}\n{}",
        view.state,
        app.activity(name).await
    );
    let revision = view.facts.as_ref().map(|facts| facts.revision);
    assert_eq!(revision, Some(row.revision), "{row}: the negotiated or selected revision is used");
    let found = view.connected.as_ref().map_or_else(|| "probed".to_owned(), |connected| connected.how.clone());
    let transport = view.connected.map(|connected| format!("{:?}", connected.transport));
    let expected = match row.transport {
        Transport::Stdio => None,
        Transport::StreamableHttp => Some("StreamableHttp".to_owned()),
        Transport::HttpSse => Some("HttpSse".to_owned()),
    };
    assert_eq!(transport, expected, "{row}: the transport of the row is used");
    wait_for_complete_catalog(&app, name).await;
    let one = RowCheck { app: &app, row, remote, server: name };
    let mut cells = Vec::new();
    for &feature in Feature::ALL {
        let lack = row.server.lacks.iter().find(|(lacking, _)| *lacking == feature);
        let cell = match lack {
            _ if !feature.exists_in(row.revision, row.transport == Transport::StreamableHttp) => {
                FeatureCheckOutcome::NotInRevision
            }
            Some((_, why)) => FeatureCheckOutcome::Lacking(why),
            None => match timeout(CHECK_TIMEOUT, one.check_feature(feature)).await {
                Ok(Ok(())) => FeatureCheckOutcome::Works,
                Ok(Err(observed)) => FeatureCheckOutcome::Failed(observed),
                Err(_) => FeatureCheckOutcome::Failed(format!(
                    "not done after {CHECK_TIMEOUT:?}, last messages:\n{}",
                    last_lines(&app.activity(name).await, 12)
                )),
            },
        };
        cells.push((feature, cell));
    }
    user.abort();
    app.host.close().await;
    MatrixRowResult { found, cells }
}

fn last_lines(text: &str, count: usize) -> String {
    let lines: Vec<&str> = text.lines().collect();
    lines[lines.len().saturating_sub(count)..].join("\n")
}

struct RowCheck<'a> {
    app: &'a TestApp,
    row: &'a MatrixRow,
    remote: &'a HttpProcesses,
    server: &'static str,
}

impl RowCheck<'_> {
    async fn check_feature(&self, feature: Feature) -> FeatureCheckResult {
        match feature {
            Feature::Pages => self.check_pagination().await,
            Feature::Icons => self.check_icons().await,
            Feature::Caching => self.check_caching().await,
            Feature::Call => self.expect_text("add", json!({ "a": 2, "b": 3 }), "= 5").await,
            Feature::Structured => self.check_structured_content().await,
            Feature::ToolError => self.check_tool_error().await,
            Feature::Content => self.check_content(&["text", "image", "resource"]).await,
            Feature::Audio => self.check_content(&["audio"]).await,
            Feature::Link => self.check_resource_link().await,
            Feature::Progress => self.check_progress().await,
            Feature::Log => self.check_log_messages().await,
            Feature::Prompts => self.check_prompts().await,
            Feature::Completion => self.check_completion("harbour", "am", &[], &["Amsterdam"]).await,
            Feature::Context => self.check_completion("ship", "", &[("harbour", "Bergen")], &["Borealis"]).await,
            Feature::Resources => self.check_resources().await,
            Feature::ListChanged => self.check_list_changed().await,
            Feature::Subscription => self.check_subscription().await,
            Feature::Form => self.check_form().await,
            Feature::Url => self.check_url().await,
            Feature::Sampling => self.expect_text("ask_model", json!({}), MODEL_RESPONSE).await,
            Feature::Roots => self.expect_text("list_folders", json!({}), &self.shared_folder()).await,
            Feature::Cancel => self.check_cancellation().await,
            Feature::Resumption => self.check_resumption().await,
            Feature::Tasks => self.check_task("Done later.", "tasks/result").await,
            Feature::TaskExtension => self.check_task("The quay is swept.", "tasks/get").await,
        }
    }

    async fn call(&self, tool: &str, arguments: Value) -> Result<CallToolResult, String> {
        self.call_with_id(&next_call_id(), tool, arguments).await.map_err(|error| format!("{tool}: {error}"))
    }

    async fn call_with_id(&self, id: &str, tool: &str, arguments: Value) -> Result<CallToolResult, CallFailure> {
        let (id, server, tool) = (id.to_owned(), self.server.to_owned(), tool.to_owned());
        self.app.host.call_tool(id, server, tool, to_json_object(&arguments), None).await.map(|(result, _)| result)
    }

    async fn expect_text(&self, tool: &str, arguments: Value, words: &str) -> FeatureCheckResult {
        let result = self.call(tool, arguments).await?;
        require(!result.is_error && result_text(&result).contains(words), result)
    }

    /// Returns the number of requests with this method that the host sent to the server.
    async fn count_requests(&self, method: &str) -> usize {
        sent_methods(self.app, self.server).await.iter().filter(|sent| *sent == method).count()
    }
}
