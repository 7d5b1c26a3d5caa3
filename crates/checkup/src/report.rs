//! Creates the report: Markdown for an issue, without private data. Names, commands, arguments, variables, headers,
//! addresses and error messages are never added to it, so that nothing has to be removed. See
//! [`FindingText`](crate::text::FindingText).

use std::collections::BTreeMap;
use std::path::Path;

use launches::packages::{LauncherPackage, launched_package};
use ports::server_config::{HttpConfig, ServerConfig, ServerTransport, StdioConfig};

use crate::computer::{ProcessEnvironment, WebView};
use crate::finding::{Finding, FindingState};
use crate::system;
use crate::text::NumericVersion;

/// The program that creates a report: the desktop app or the command line.
#[derive(Debug, Clone, Copy)]
pub struct ReportingProgram<'a> {
    /// Display name of the program.
    pub name: &'static str,
    /// Version of the program.
    pub version: &'static str,
    /// Web view that renders the program's window, or `None` if the program has no window.
    pub web_view: Option<&'a WebView>,
}

/// A configured server that the report lists.
#[derive(Debug, Clone, Copy)]
pub struct ReportedServer<'a> {
    /// Settings of the server, of which the report contains only the kind of server.
    pub config: &'a ServerConfig,
    /// State of the server as one word, or `None` if it is unknown.
    pub state: Option<&'static str>,
}

/// Creates a report of the checks: Markdown for a public issue, without private data.
#[must_use]
pub fn report_markdown(
    findings: &[Finding],
    program: ReportingProgram<'_>,
    servers: &[ReportedServer<'_>],
    environment: &ProcessEnvironment,
) -> String {
    let (os_release, kernel) = system::read_os_release_and_kernel_version();
    let mut text =
        format!("## Drawbridge: report on this computer\n\n- Program: {} {}\n", program.name, program.version);
    text.push_str(&format!("- System: {}\n", system::describe_system(os_release.as_deref(), kernel.as_deref())));
    if let Some(WebView { name, version }) = program.web_view {
        let version = NumericVersion::find(version)
            .map_or_else(|| "of unknown version".to_owned(), |version| version.to_string());
        text.push_str(&format!("- Web view: {name} {version}\n"));
    }
    text.push_str(&format!("- Session: {}\n", system::describe_desktop_session(environment)));
    text.push_str("\n### Findings\n\n");
    for finding in findings {
        text.push_str(&finding_line(finding, environment.home.as_deref()));
    }
    text.push_str("\n### Servers\n\n");
    let mut kinds: BTreeMap<String, usize> = BTreeMap::new();
    for server in servers {
        let state = server.state.map(|state| format!(": {state}")).unwrap_or_default();
        *kinds.entry(format!("{}{state}", server_kind_text(server.config))).or_default() += 1;
    }
    for (kind, count) in &kinds {
        text.push_str(&format!("- {count} × {kind}\n"));
    }
    if kinds.is_empty() {
        text.push_str("- none\n");
    }
    text
}

fn finding_line(finding: &Finding, home: Option<&Path>) -> String {
    let Finding { title, state, observation, remedy, servers, .. } = finding;
    let mut text = format!("- **{title}**: {}. {}", state.word(), observation.to_report_text(home));
    match servers.len() {
        0 => {}
        1 => text.push_str(" Concerns 1 server."),
        several => text.push_str(&format!(" Concerns {several} servers.")),
    }
    if let (Some(remedy), FindingState::Problem | FindingState::Warning) = (remedy, state) {
        text.push_str(&format!("\n  - {}", remedy.to_report_text(home)));
    }
    text + "\n"
}

/// Returns a description of a server's kind: the launcher or program that it uses, if known, or the type of its URL.
fn server_kind_text(config: &ServerConfig) -> String {
    match &config.transport {
        ServerTransport::Stdio(stdio) => {
            let sandbox = if stdio.sandbox.is_some() { ", in a sandbox" } else { "" };
            format!("local, {}{sandbox}", launcher_name(stdio))
        }
        ServerTransport::Http(http) => format!("remote, {}", describe_server_url(http)),
    }
}

fn launcher_name(stdio: &StdioConfig) -> &'static str {
    match launched_package(&stdio.command, &stdio.args) {
        Some(LauncherPackage::Package(reference)) => reference.launcher.name(),
        Some(LauncherPackage::Unknown(..)) => "another launcher, or one in a shell",
        None => crate::required_programs::known_runtime_program(stdio).unwrap_or("a custom program"),
    }
}

/// Returns a description of a server's URL: its scheme, and if its host is this computer.
fn describe_server_url(http: &HttpConfig) -> String {
    let Ok(url) = url::Url::parse(&http.url) else { return "without a usable address".to_owned() };
    let scheme = match url.scheme() {
        "https" => "https",
        "http" => "http",
        _ => "another scheme",
    };
    let is_here = url.host().is_some_and(|host| foreign::is_loopback(&host));
    format!("{scheme}, {}", if is_here { "on this computer" } else { "not on this computer" })
}
