//! Environment variables that direct a server's programs to the proxy. A program that ignores them has no network
//! access.

use std::ffi::OsString;

use super::HostPattern;

/// Port of the proxy inside the sandbox. The network namespace belongs to the server, so programs outside it do not use
/// the port.
pub(crate) const PROXY_PORT: u16 = 3128;

/// Environment variables that name the proxy, in each common spelling.
const PROXY_VARIABLES: [&str; 6] = ["HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy"];
/// Environment variables that list hosts to contact without the proxy.
const NO_PROXY_VARIABLES: [&str; 2] = ["NO_PROXY", "no_proxy"];
/// Hosts of the sandbox's own loopback interface, on which the server's child processes may listen. Contacted without
/// the proxy.
const LOOPBACK_HOSTS: &str = "localhost,127.0.0.1,::1";
/// Environment variable that makes Node.js use the proxy in its own `fetch` and `https` (from versions 22.21 and 24).
const NODE_PROXY_VARIABLE: &str = "NODE_USE_ENV_PROXY";

/// Sets the variables that direct programs to the proxy, and replaces existing values, because other proxies are
/// unreachable in the sandbox. `hosts` are the hosts that the server may contact.
pub(crate) fn set_proxy_variables(environment: &mut Vec<(OsString, OsString)>, hosts: &[HostPattern]) {
    // If the user permits the computer's loopback interface, it is contacted through the proxy.
    let direct = if hosts.iter().any(HostPattern::is_loopback) { "" } else { LOOPBACK_HOSTS };
    let proxy = format!("http://127.0.0.1:{PROXY_PORT}");
    let proxies = PROXY_VARIABLES.iter().map(|name| (*name, proxy.as_str()));
    for (name, value) in
        proxies.chain(NO_PROXY_VARIABLES.iter().map(|name| (*name, direct))).chain([(NODE_PROXY_VARIABLE, "1")])
    {
        environment.retain(|(other, _)| other != name);
        environment.push((name.into(), value.into()));
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn s24_configured_proxy_variables_are_replaced() {
        let mut environment =
            vec![("https_proxy".into(), "http://proxy.example:8080".into()), ("HOME".into(), "/h".into())];
        set_proxy_variables(&mut environment, &["example.com".parse().unwrap()]);
        let of = |name: &str| {
            environment.iter().filter(|(other, _)| other == name).map(|(_, value)| value.clone()).collect::<Vec<_>>()
        };
        assert_eq!(of("https_proxy"), ["http://127.0.0.1:3128"], "the configured proxy must be replaced");
        assert_eq!(of("HOME"), ["/h"], "other variables must remain unchanged");
        assert_eq!(of("NO_PROXY"), [LOOPBACK_HOSTS], "the sandbox's loopback interface must not use the proxy");
        set_proxy_variables(&mut environment, &["localhost:3000".parse().unwrap()]);
        let direct = environment.iter().find(|(name, _)| name == "NO_PROXY").unwrap();
        assert_eq!(direct.1, "", "a named loopback host must use the proxy");
    }
}
