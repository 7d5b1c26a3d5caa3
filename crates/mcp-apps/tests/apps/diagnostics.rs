//! Tests of the reports of the diagnostic script, which a hostile page can forge.

use std::time::Duration;

use mcp_apps::limits::{DIAGNOSTIC_REPORTS_PER_SECOND, MAX_DIAGNOSTIC_REPORT_BURST, MAX_DIAGNOSTIC_REPORT_BYTES};
use mcp_apps::{AppDiagnostic, ViewEvent};
use serde_json::json;

use super::page::{TestPage, view_config};

const DIAGNOSTIC_REPORT: &str = r#"{"mcpAppDiagnostic":{"type":"webgl_missing"},"dropped":0}"#;

fn webgl_missing_event(dropped: u64) -> ViewEvent {
    ViewEvent::Diagnosed { diagnostic: AppDiagnostic::WebglMissing, dropped }
}

#[test]
fn diagnostic_reports_are_events_in_every_phase() {
    let mut page = TestPage::new(view_config());
    page.send_text(DIAGNOSTIC_REPORT);
    assert_eq!(page.events, [webgl_missing_event(0)]);
    page.initialize(json!({}));
    page.send_text(DIAGNOSTIC_REPORT);
    page.notify("ui/notifications/initialized", json!({}));
    page.send_text(DIAGNOSTIC_REPORT);
    page.view.begin_teardown(page.now);
    page.send_text(DIAGNOSTIC_REPORT);
    assert_eq!(page.events.iter().filter(|event| **event == webgl_missing_event(0)).count(), 4);
    assert_eq!(page.faults, [], "reports before the handshake are not early messages");
    page.view.handle_page_gone();
    page.drain_view_outputs();
    let before = page.events.len();
    page.send_text(DIAGNOSTIC_REPORT);
    assert_eq!(page.events.len(), before, "a closed view reports nothing");
}

#[test]
fn diagnostic_reports_are_never_protocol_messages() {
    let mut page = TestPage::ready();
    page.send_text(r#"{"mcpAppDiagnostic":{"type":"webgl_missing"},"jsonrpc":"2.0","id":1,"method":"ping"}"#);
    page.send_text(r#"{"mcpAppDiagnostic":5,"jsonrpc":"2.0","method":"ui/notifications/request-teardown"}"#);
    assert_eq!(page.events, [webgl_missing_event(0)]);
    assert_eq!((page.received.len(), page.requests.len(), page.faults.len()), (0, 0, 0));
}

#[test]
fn diagnostic_report_flood_does_not_use_up_the_message_rate() {
    let mut page = TestPage::ready();
    (0..1000).for_each(|_| page.send_text(DIAGNOSTIC_REPORT));
    assert_eq!(page.events.len(), MAX_DIAGNOSTIC_REPORT_BURST as usize);
    assert_eq!(page.request("ping", json!({}))["result"], json!({}), "messages should still be processed");
    assert_eq!(page.faults, [], "a flood of reports is no fault of messages");
    page.events.clear();
    page.advance_time(Duration::from_secs(1));
    (0..1000).for_each(|_| page.send_text(DIAGNOSTIC_REPORT));
    assert_eq!(page.events.len(), DIAGNOSTIC_REPORTS_PER_SECOND as usize);
    assert_eq!(page.events[0], webgl_missing_event(1000 - u64::from(MAX_DIAGNOSTIC_REPORT_BURST)));
    assert_eq!(page.events[1], webgl_missing_event(0));
}

#[test]
fn malformed_and_oversized_diagnostic_reports_are_counted() {
    let mut page = TestPage::ready();
    let oversized = "a".repeat(MAX_DIAGNOSTIC_REPORT_BYTES);
    page.send_text(&format!(r#"{{"mcpAppDiagnostic":{{"type":"failed","text":"{oversized}"}}}}"#));
    page.send_text(r#"{"mcpAppDiagnostic":{"type":"unknown"}}"#);
    page.send_text(r#"{"mcpAppDiagnostic":{"type":"failed","text":"a""#);
    assert_eq!((page.events.len(), page.faults.len()), (0, 0));
    page.send_text(r#"{"mcpAppDiagnostic":{"type":"webgl_missing"},"dropped":4}"#);
    assert_eq!(page.events, [webgl_missing_event(7)], "dropped reports of the script and of the view are added");
}
