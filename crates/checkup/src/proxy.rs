//! Checks the HTTP proxy through which Drawbridge reaches remote servers, registries and models, as set in the
//! environment or in the desktop's settings.

use std::time::Duration;

use ports::server_config::ServerEntry;
use process::{OutputLimits, SearchPath, ServerCommand, is_in_system_folder, run_and_capture};

use crate::computer::ProcessEnvironment;
use crate::finding::CheckOutcome;
use crate::text::FindingText;

/// Limits for running `gsettings`: maximum time, and maximum size of its output.
const GSETTINGS_LIMITS: OutputLimits = OutputLimits { time: Duration::from_secs(5), bytes: 4 * 1024 };

/// Environment variables with the proxy for HTTPS, in the order in which the HTTP client reads them. Each has two
/// spellings. If both are set, the first one is used, even if it is empty. A variable whose value is not an address is
/// skipped.
const HTTPS_PROXY_VARIABLES: [(&str, &str); 2] = [("HTTPS_PROXY", "https_proxy"), ("ALL_PROXY", "all_proxy")];
/// Environment variable with the proxy for unencrypted HTTP, in its two spellings. The proxy applies only to servers on
/// this computer, since remote servers use HTTPS.
const HTTP_PROXY_VARIABLES: (&str, &str) = ("HTTP_PROXY", "http_proxy");

/// HTTP proxy that environment variables configure for Drawbridge's HTTP client.
#[derive(Debug, PartialEq, Eq)]
enum EnvironmentProxy {
    Nothing,
    /// The client uses the proxy in the variable with this name.
    Usable(&'static str),
    /// The client can't use the proxy in a variable. Contains the name of the variable and the reason.
    Unusable(&'static str, &'static str),
    /// The variable with this name contains a proxy, but only for unencrypted HTTP, and there is none for HTTPS.
    HttpOnly(&'static str),
}

pub(crate) async fn check_proxy(
    environment: ProcessEnvironment,
    path: SearchPath,
    servers: Vec<ServerEntry>,
) -> CheckOutcome {
    let remote = || -> Vec<String> {
        servers.iter().filter(|server| server.config.as_http().is_some()).map(|server| server.name.clone()).collect()
    };
    match proxy_from_environment(&environment) {
        EnvironmentProxy::Unusable(variable, reason) => CheckOutcome::problem(
            FindingText::new("The proxy in ").and(variable).and(" can't be used: ").and(reason),
            FindingText::new("Set the variable to the address of an HTTP proxy, such as http://proxy.example:3128, for the session from which Drawbridge is started, or unset it."),
        )
        .affecting_servers(remote()),
        EnvironmentProxy::Usable(variable) => CheckOutcome::ok(
            FindingText::new("Drawbridge uses the proxy in ").and(variable).and(". Local servers do not get this variable; one that needs it has it in its own settings."),
        ),
        EnvironmentProxy::HttpOnly(variable) => CheckOutcome::warning(
            FindingText::new("Connections to https servers are direct: the proxy in ").and(variable).and(" counts for http:// only."),
            FindingText::new("If this network needs the proxy, set HTTPS_PROXY to its address as well, and sign in again."),
        )
        .affecting_servers(remote()),
        EnvironmentProxy::Nothing if has_gnome_proxy(&path).await => CheckOutcome::warning(
            FindingText::new("A proxy is set in the desktop's settings. Drawbridge reads it from the environment only, where none is set."),
            FindingText::new("Set HTTPS_PROXY and NO_PROXY for your session, for instance in ~/.config/environment.d/proxy.conf, and sign in again."),
        )
        .affecting_servers(remote()),
        EnvironmentProxy::Nothing if has_system_proxy() => CheckOutcome::ok(FindingText::new("Drawbridge uses the proxy of the system's settings.")),
        EnvironmentProxy::Nothing => CheckOutcome::ok(FindingText::new("No proxy is set; connections are direct.")),
    }
}

fn proxy_from_environment(environment: &ProcessEnvironment) -> EnvironmentProxy {
    // A CGI program receives the headers of its HTTP request as variables, so a client could set the proxy with the
    // header `Proxy` (httpoxy). Therefore the HTTP client ignores the proxy variables in a CGI program.
    if environment.is_set("REQUEST_METHOD") {
        return EnvironmentProxy::Nothing;
    }
    let mut unusable = None;
    for variables in HTTPS_PROXY_VARIABLES {
        let Some((variable, value)) = effective_variable_spelling(environment, variables) else { continue };
        match value.map_or(Some(ProxyProblem::NoAddress("it is not Unicode text.")), proxy_problem) {
            None => return EnvironmentProxy::Usable(variable),
            Some(ProxyProblem::Socks(reason)) => return EnvironmentProxy::Unusable(variable, reason),
            Some(ProxyProblem::NoAddress(reason)) => {
                unusable = unusable.or(Some(EnvironmentProxy::Unusable(variable, reason)))
            }
        }
    }
    let for_http = || {
        effective_variable_spelling(environment, HTTP_PROXY_VARIABLES)
            .map(|(variable, _)| EnvironmentProxy::HttpOnly(variable))
    };
    unusable.or_else(for_http).unwrap_or(EnvironmentProxy::Nothing)
}

/// Returns the spelling in which a proxy variable is set, and its value, or `None` in place of the value if that is not
/// Unicode. Returns `None` if the variable is not set or is empty.
fn effective_variable_spelling<'e>(
    environment: &'e ProcessEnvironment,
    (upper, lower): (&'static str, &'static str),
) -> Option<(&'static str, Option<&'e str>)> {
    let variable = [upper, lower].into_iter().find(|name| environment.is_set(name))?;
    environment.get(variable)?;
    Some((variable, environment.text(variable)))
}

/// Reason why the value of a proxy variable can't be used. Contains a sentence for the user.
enum ProxyProblem {
    /// The proxy uses the SOCKS protocol, which is not supported.
    Socks(&'static str),
    /// The value is not the address of an HTTP proxy.
    NoAddress(&'static str),
}

fn proxy_problem(address: &str) -> Option<ProxyProblem> {
    let with_scheme = if address.contains("://") { address.to_owned() } else { format!("http://{address}") };
    let none = "it is no address of an HTTP proxy, and is ignored.";
    let Ok(url) = url::Url::parse(&with_scheme) else { return Some(ProxyProblem::NoAddress(none)) };
    match url.scheme() {
        "http" | "https" if url.has_host() => None,
        "socks4" | "socks4a" | "socks5" | "socks5h" => {
            Some(ProxyProblem::Socks("Drawbridge speaks to HTTP proxies only, not SOCKS."))
        }
        _ => Some(ProxyProblem::NoAddress(none)),
    }
}

/// Returns `true` if GNOME's settings contain a proxy, according to the output of `gsettings`.
async fn has_gnome_proxy(path: &SearchPath) -> bool {
    if !cfg!(target_os = "linux") {
        return false;
    }
    let command = ServerCommand {
        program: "gsettings".to_owned(),
        arguments: ["get", "org.gnome.system.proxy", "mode"].map(str::to_owned).into(),
        ..ServerCommand::default()
    };
    let Ok(program) = path.resolve(&command) else { return false };
    if !is_in_system_folder(&program) {
        return false;
    }
    let output = run_and_capture(&command, &program, path, &[], GSETTINGS_LIMITS).await;
    output.is_ok_and(|output| ["'manual'", "'auto'"].contains(&String::from_utf8_lossy(&output.stdout).trim()))
}

/// Returns `true` if the operating system's settings contain a proxy that Drawbridge uses.
#[cfg(any(target_os = "macos", windows))]
fn has_system_proxy() -> bool {
    let matcher = hyper_util::client::proxy::matcher::Matcher::from_system();
    matcher.intercept(&http::Uri::from_static("https://modelcontextprotocol.io")).is_some()
}

/// Returns `false`, since on Linux the HTTP client reads the proxy only from environment variables.
#[cfg(not(any(target_os = "macos", windows)))]
fn has_system_proxy() -> bool {
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unusable_proxy_is_reported() {
        let of =
            |variables: &[(&str, &str)]| proxy_from_environment(&ProcessEnvironment::with_variables(variables, None));
        assert_eq!(of(&[]), EnvironmentProxy::Nothing);
        assert_eq!(
            of(&[("HTTPS_PROXY", "http://ann:key@proxy.example:3128")]),
            EnvironmentProxy::Usable("HTTPS_PROXY")
        );
        assert_eq!(
            of(&[("https_proxy", "proxy.example:3128")]),
            EnvironmentProxy::Usable("https_proxy"),
            "an address without a scheme is an HTTP proxy"
        );
        assert_eq!(
            of(&[("HTTPS_PROXY", ""), ("https_proxy", "socks5://x")]),
            EnvironmentProxy::Nothing,
            "the first spelling that is set is used, even if it is empty"
        );
        for (variable, value) in
            [("ALL_PROXY", "socks5h://127.0.0.1:1080"), ("HTTPS_PROXY", "ftp://x"), ("https_proxy", "::")]
        {
            let found = of(&[(variable, value)]);
            assert!(
                matches!(found, EnvironmentProxy::Unusable(name, _) if name == variable),
                "{variable}={value}: {found:?}"
            );
        }
        assert_eq!(
            of(&[("REQUEST_METHOD", "GET"), ("HTTPS_PROXY", "ftp://x")]),
            EnvironmentProxy::Nothing,
            "proxy variables are ignored in a CGI program"
        );
    }

    #[test]
    fn https_proxy_variable_takes_precedence_as_in_the_http_client() {
        let of =
            |variables: &[(&str, &str)]| proxy_from_environment(&ProcessEnvironment::with_variables(variables, None));
        let http = ("HTTP_PROXY", "http://proxy.example:3128");
        let socks = ("all_proxy", "socks5://127.0.0.1:7890");
        assert_eq!(of(&[http]), EnvironmentProxy::HttpOnly("HTTP_PROXY"), "a proxy for HTTP does not apply to HTTPS");
        let all_three = [http, ("HTTPS_PROXY", "http://proxy.example:3128"), socks];
        assert_eq!(
            of(&all_three),
            EnvironmentProxy::Usable("HTTPS_PROXY"),
            "HTTPS_PROXY takes precedence over ALL_PROXY"
        );
        assert!(
            matches!(of(&[http, socks]), EnvironmentProxy::Unusable("all_proxy", _)),
            "without HTTPS_PROXY, ALL_PROXY is used"
        );
        let other = [("HTTPS_PROXY", "ftp://x"), ("ALL_PROXY", "http://proxy.example")];
        assert_eq!(of(&other), EnvironmentProxy::Usable("ALL_PROXY"), "a value that is not an address is ignored");
    }

    #[tokio::test]
    async fn unusable_proxy_affects_remote_servers_only() {
        let path = SearchPath::from_process("a test".to_owned());
        let servers = vec![
            ServerEntry { name: "far".to_owned(), config: ports::server_config::HttpConfig::default().into() },
            ServerEntry { name: "near".to_owned(), config: ports::server_config::StdioConfig::default().into() },
        ];
        let environment = ProcessEnvironment::with_variables(&[("ALL_PROXY", "socks5://canary.example")], None);
        let outcome = check_proxy(environment, path, servers).await;
        assert_eq!(outcome.servers, ["far"], "local servers are not affected");
        assert!(outcome.observation.to_string().contains("not SOCKS"), "{}", outcome.observation);
        assert!(
            !outcome.observation.to_string().contains("canary"),
            "the address is not displayed, since it may contain a password: {}",
            outcome.observation
        );
    }
}
