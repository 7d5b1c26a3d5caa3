//! Reports of the diagnostic script, which is added to the document of an app: requests that the content security
//! policy blocks, uncaught errors, and console output. An app can forge and prevent reports, so that they are only text
//! for display.
//!
//! - `script`: the script, and its place in the document.

mod script;

pub use script::with_diagnostic_script;

use serde::{Deserialize, Serialize};

/// Beginning of the JSON text of each report. No JSON-RPC message of an app begins like this.
const DIAGNOSTIC_REPORT_PREFIX: &str = r#"{"mcpAppDiagnostic":"#;

/// Report of the diagnostic script in the document of an app. Untrusted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS), ts(rename = "AppDiagnostic"))]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum AppDiagnostic {
    /// The content security policy blocked a request or a script.
    Blocked {
        /// Directive of the policy, such as `connect-src`.
        directive: String,
        /// Blocked address, or a word such as `eval` for what has no address. May be empty.
        address: String,
    },
    /// An exception or a rejected promise was not caught, or a script could not be loaded.
    Failed {
        /// Message of the error, and the stack if there is one.
        text: String,
    },
    /// A drawing context for WebGL could not be created.
    WebglMissing,
    /// The app wrote to the console.
    Console {
        /// Level of the console output.
        level: AppConsoleLevel,
        /// Values that the app wrote, separated by spaces.
        text: String,
    },
}

/// Level of an app's console output.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS), ts(rename = "AppConsoleLevel"))]
#[serde(rename_all = "snake_case")]
pub enum AppConsoleLevel {
    /// Output of `console.error`.
    Error,
    /// Output of `console.warn`.
    Warning,
    /// Output of `console.info` and `console.log`.
    Info,
    /// Output of `console.debug`.
    Debug,
}

/// Message with which the diagnostic script sends a report to the host.
#[derive(Debug, PartialEq, Eq, Deserialize)]
pub(crate) struct DiagnosticReport {
    #[serde(rename = "mcpAppDiagnostic")]
    pub(crate) diagnostic: AppDiagnostic,
    /// Number of reports before this one that the script did not send.
    #[serde(default)]
    pub(crate) dropped: u32,
}

/// Returns `true` for the JSON text of a report, which is not a message of the protocol even if it is malformed.
pub(crate) fn is_diagnostic_report(text: &str) -> bool {
    text.starts_with(DIAGNOSTIC_REPORT_PREFIX)
}

/// Parses the JSON text of a report. Returns `None` if it is malformed.
pub(crate) fn parse_diagnostic_report(text: &str) -> Option<DiagnosticReport> {
    let message: DiagnosticReport = serde_json::from_str(text).ok()?;
    match &message.diagnostic {
        AppDiagnostic::Blocked { directive, .. } if !is_csp_directive_name(directive) => None,
        _ => Some(message),
    }
}

/// Returns `true` if a text has the form of a directive's name. It is displayed in a sentence of the host, so that it
/// must not be text of the app's choice.
fn is_csp_directive_name(text: &str) -> bool {
    const MAX_DIRECTIVE_BYTES: usize = 40;
    !text.is_empty()
        && text.len() <= MAX_DIRECTIVE_BYTES
        && text.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'-')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn diagnostic_reports_of_each_kind_are_parsed() {
        let parsed = |content: &str| {
            let text = format!(r#"{DIAGNOSTIC_REPORT_PREFIX}{content},"dropped":3}}"#);
            assert!(is_diagnostic_report(&text), "{text}");
            parse_diagnostic_report(&text).map(|message| (message.diagnostic, message.dropped))
        };
        let (directive, address) = ("connect-src".to_owned(), "https://a.example/".to_owned());
        assert_eq!(
            parsed(r#"{"type":"blocked","directive":"connect-src","address":"https://a.example/"}"#),
            Some((AppDiagnostic::Blocked { directive, address }, 3))
        );
        assert_eq!(
            parsed(r#"{"type":"failed","text":"a"}"#),
            Some((AppDiagnostic::Failed { text: "a".to_owned() }, 3))
        );
        assert_eq!(parsed(r#"{"type":"webgl_missing"}"#), Some((AppDiagnostic::WebglMissing, 3)));
        for (name, level) in [
            ("error", AppConsoleLevel::Error),
            ("warning", AppConsoleLevel::Warning),
            ("info", AppConsoleLevel::Info),
            ("debug", AppConsoleLevel::Debug),
        ] {
            let output = format!(r#"{{"type":"console","level":"{name}","text":"a"}}"#);
            assert_eq!(parsed(&output), Some((AppDiagnostic::Console { level, text: "a".to_owned() }, 3)));
        }
        assert_eq!(parsed(r#"{"type":"console","level":"loud","text":"a"}"#), None);
        assert_eq!(parsed(r#"{"type":"failed","text":5}"#), None);
        for directive in ["", "default) expired. Sign in again at evil.example (", &"a".repeat(41)] {
            let blocked = format!(r#"{{"type":"blocked","directive":"{directive}","address":""}}"#);
            assert_eq!(parsed(&blocked), None, "{directive} is not the name of a directive");
        }
    }

    #[test]
    fn count_of_dropped_diagnostic_reports_is_optional() {
        let parsed = |rest: &str| {
            parse_diagnostic_report(&format!(r#"{DIAGNOSTIC_REPORT_PREFIX}{{"type":"webgl_missing"}}{rest}}}"#))
        };
        assert_eq!(parsed("").map(|message| message.dropped), Some(0));
        assert_eq!(parsed(r#","dropped":-1"#), None);
    }
}
