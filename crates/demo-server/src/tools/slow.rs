//! `slow_report`: a tool that takes long, reports progress, and can be cancelled.

use std::time::Duration;

use rmcp::model::{Tool, ToolAnnotations};
use serde::Deserialize;
use serde_json::json;

use super::{ToolCall, ToolOutcome, new_tool, text_result};
use crate::client;
use crate::input_requests::EarlyExit;

const MAX_REPORT_SECONDS: f64 = 3600.0;
const MAX_REPORT_STEPS: u32 = 1000;

pub(super) fn slow_report_definition() -> Tool {
    let input = json!({
        "type": "object",
        "properties": {
            "seconds": { "type": "number", "title": "Seconds", "description": "How long it takes.", "minimum": 0, "maximum": MAX_REPORT_SECONDS, "default": 5 },
            "steps": { "type": "integer", "title": "Steps", "description": "How often it reports progress.", "minimum": 1, "maximum": MAX_REPORT_STEPS, "default": 10 }
        }
    });
    let description = "Writes a long report and reports its progress. It can be cancelled.";
    new_tool("slow_report", "Slow report", description, input).with_annotations(ToolAnnotations::new().read_only(true))
}

pub(super) async fn slow_report(call: &ToolCall<'_>) -> ToolOutcome {
    #[derive(Deserialize)]
    struct Arguments {
        seconds: Option<f64>,
        steps: Option<u32>,
    }
    let arguments: Arguments = call.arguments()?;
    let seconds = arguments.seconds.unwrap_or(5.0);
    let steps = arguments.steps.unwrap_or(10);
    if !(0.0..=MAX_REPORT_SECONDS).contains(&seconds) || !(1..=MAX_REPORT_STEPS).contains(&steps) {
        return Err(EarlyExit::Failed("Seconds go from 0 to 3600, steps from 1 to 1000.".to_owned()));
    }
    let pause = Duration::from_secs_f64(seconds / f64::from(steps));
    for step in 1..=steps {
        tokio::select! {
            () = call.context.ct.cancelled() => {
                tracing::info!("slow_report was cancelled before step {step} of {steps}");
                return Err(EarlyExit::Failed("Cancelled.".to_owned()));
            }
            () = tokio::time::sleep(pause) => {}
        }
        let message = format!("Page {step} of {steps} is written");
        client::send_progress(call.context, f64::from(step), f64::from(steps), message).await;
    }
    Ok(text_result(format!(
        "The report has {steps} pages. Nothing happened in {seconds} seconds, which is how a harbour likes it."
    )))
}
