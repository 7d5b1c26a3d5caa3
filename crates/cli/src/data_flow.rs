//! The `flow` command: shows or sets which results the user reviews before a model reads them, and which content makes
//! later calls require approval.

use api::Handler as _;
use api::data::{DataFlow, EmptyObject, ResultReview, SameServerFlow, SetDataFlow};
use serde_json::Value;

use crate::arguments::{DataFlowArguments, ResultReviewName, SameServerFlowName};
use crate::failure::CommandFailure;
use crate::output::to_json_value;
use crate::session::CommandSession;
use crate::terminal_escape::escape_line;

/// Changes the data flow settings of a server that the command line specifies, and prints all of its data flow
/// settings.
pub(crate) async fn run(session: &CommandSession, what: DataFlowArguments) -> Result<Value, CommandFailure> {
    session.resolve_server_names(Some(&what.server)).await?;
    let before = read_data_flow(session, &what.server).await?;
    let mut flow = before.clone();
    if let Some(own) = what.same_server {
        flow.same_server = to_same_server_flow(own);
    }
    match (what.review.map(to_result_review), what.tool) {
        (None, _) => {}
        (Some(None), None) => return Err(CommandFailure::usage_error("--review server requires --tool")),
        (Some(None), Some(tool)) => drop(flow.tools.remove(&tool)),
        (Some(Some(own)), Some(tool)) => drop(flow.tools.insert(tool, own)),
        (Some(Some(own)), None) => flow.review = own,
    }
    if flow != before {
        session.api.set_data_flow(SetDataFlow { server: what.server.clone(), flow }).await?;
    }
    let now = read_data_flow(session, &what.server).await?;
    session.output.print_text(&data_flow_text(&what.server, &now));
    Ok(to_json_value(&now))
}

async fn read_data_flow(session: &CommandSession, server: &str) -> Result<DataFlow, CommandFailure> {
    let servers = session.api.read_snapshot(EmptyObject {}).await?.servers;
    let own = servers.into_iter().find(|own| own.name == server);
    own.map(|own| own.flow)
        .ok_or_else(|| CommandFailure::usage_error(format!("there is no server {:?}", escape_line(server))))
}

/// Converts the value of the option for reviews. Returns `None` for the value that makes a tool use the setting of its
/// server.
const fn to_result_review(name: ResultReviewName) -> Option<ResultReview> {
    match name {
        ResultReviewName::Off => Some(ResultReview::Off),
        ResultReviewName::Suspicious => Some(ResultReview::Suspicious),
        ResultReviewName::Always => Some(ResultReview::Always),
        ResultReviewName::Server => None,
    }
}

const fn to_same_server_flow(name: SameServerFlowName) -> SameServerFlow {
    match name {
        SameServerFlowName::OpenWorld => SameServerFlow::OpenWorld,
        SameServerFlowName::Everything => SameServerFlow::Everything,
        SameServerFlowName::Off => SameServerFlow::Off,
    }
}

fn data_flow_text(server: &str, flow: &DataFlow) -> String {
    let server = escape_line(server);
    let after = match flow.same_server {
        SameServerFlow::OpenWorld => "content that others may have written",
        SameServerFlow::Everything => "any content",
        SameServerFlow::Off => "nothing",
    };
    let mut text = format!("A model's call of {server} asks after {after} of {server}.\n");
    text.push_str(&format!(
        "Results of {server} are reviewed before a model reads them: {}.\n",
        result_review_text(flow.review)
    ));
    for (tool, own) in &flow.tools {
        text.push_str(&format!("  {}: {}\n", escape_line(tool), result_review_text(*own)));
    }
    text
}

const fn result_review_text(review: ResultReview) -> &'static str {
    match review {
        ResultReview::Off => "never",
        ResultReview::Suspicious => "when it looks suspicious",
        ResultReview::Always => "always",
    }
}
