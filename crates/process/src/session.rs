//! Variables of the user's own session that decide which certificates local servers trust, and through which proxy they connect. Behind a
//! proxy that looks into TLS nothing can be loaded without them. Callers: `host`, which shows them with a start, and `launches`, whose look-ups
//! ask through the same proxy.

use std::collections::BTreeMap;
use std::path::Path;

use url::Url;

use crate::programs::{is_of_system, same_name};
use crate::sandbox::{Folder, Network};

/// Files and folders with certificates, as OpenSSL, Node.js and Python name them.
const CERTIFICATES: [&str; 4] = ["SSL_CERT_FILE", "SSL_CERT_DIR", "NODE_EXTRA_CA_CERTS", "REQUESTS_CA_BUNDLE"];
/// Addresses of proxies.
const PROXIES: [&str; 6] = ["HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy"];
/// Destinations that need no proxy.
const DIRECT: [&str; 2] = ["NO_PROXY", "no_proxy"];
/// A longer value is no path and no proxy, in bytes.
const MAX_VALUE: usize = 4096;
/// How a reference to a secret of the settings begins. A value of the session is none.
const REFERENCE: &str = "${";

/// The session's variables for local servers. None is secret: a proxy with a name or a password in its address is not among them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SessionVariables(BTreeMap<String, String>);

impl SessionVariables {
    /// Those of the session in which this program runs.
    #[must_use]
    pub fn of_this_program() -> Self {
        let text =
            std::env::vars_os().filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)));
        Self::of(text)
    }

    /// Those of an environment.
    pub fn of(environment: impl IntoIterator<Item = (String, String)>) -> Self {
        Self(environment.into_iter().filter(|(name, value)| is_passed_on(name, value)).collect())
    }

    /// Returns true if the session has exactly this variable.
    #[must_use]
    pub fn has(&self, name: &str, value: &str) -> bool {
        self.0.get(name).is_some_and(|own| own == value)
    }

    /// Adds them to a server's own variables, which count more. A sandbox shows no certificates but the system's and those in its folders, and
    /// has a proxy of its own unless it lets the server reach the whole network: others are left out.
    pub fn add_to(&self, variables: &mut BTreeMap<String, String>, sandbox: Option<(&[Folder], &Network)>) {
        let is_of_use = |name: &str, value: &str| match sandbox {
            None => true,
            Some((_, Network::None)) => false,
            Some((folders, _)) if CERTIFICATES.contains(&name) => {
                let path = Path::new(value);
                is_of_system(path) || folders.iter().any(|folder| path.starts_with(&folder.path))
            }
            Some((_, Network::Hosts(_))) => false,
            Some((_, Network::Full)) => true,
        };
        let own: Vec<String> = variables.keys().cloned().collect();
        let is_own = |name: &str| own.iter().any(|own| same_name(own, name));
        let added = self.0.iter().filter(|(name, value)| !is_own(name) && is_of_use(name, value));
        variables.extend(added.map(|(name, value)| (name.clone(), value.clone())));
    }
}

fn is_passed_on(name: &str, value: &str) -> bool {
    let is_plain = !value.is_empty()
        && value.len() <= MAX_VALUE
        && !value.contains(REFERENCE)
        && !value.chars().any(char::is_control);
    let is_named = CERTIFICATES.contains(&name) || DIRECT.contains(&name);
    is_plain && (is_named || PROXIES.contains(&name) && is_open_proxy(value))
}

/// Whether it is the address of a proxy that nobody has to sign in at.
fn is_open_proxy(address: &str) -> bool {
    let url = if address.contains("://") { Url::parse(address) } else { Url::parse(&format!("http://{address}")) };
    url.is_ok_and(|url| url.has_host() && url.username().is_empty() && url.password().is_none())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use crate::sandbox::Access;

    use super::*;

    fn session(variables: &[(&str, &str)]) -> SessionVariables {
        SessionVariables::of(variables.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())))
    }

    fn names(variables: &BTreeMap<String, String>) -> Vec<&str> {
        variables.keys().map(String::as_str).collect()
    }

    #[test]
    fn only_what_is_not_secret_is_passed_on() {
        let passed = session(&[
            ("SSL_CERT_FILE", "/etc/ssl/certs/own.pem"),
            ("HTTPS_PROXY", "http://proxy.example:3128"),
            ("https_proxy", "proxy.example:3128"),
            ("NO_PROXY", "localhost,.example.com"),
            ("HTTP_PROXY", "http://ann:key@proxy.example:3128"),
            ("http_proxy", "ann:key@proxy.example:3128"),
            ("ALL_PROXY", "socks5://t0ken@proxy.example"),
            ("REQUESTS_CA_BUNDLE", "${secret:other}"),
            ("NODE_EXTRA_CA_CERTS", ""),
            ("GITHUB_TOKEN", "t0ken"),
        ]);
        assert_eq!(names(&passed.0), ["HTTPS_PROXY", "NO_PROXY", "SSL_CERT_FILE", "https_proxy"]);
    }

    #[test]
    fn a_server_gets_what_it_can_use_and_its_own_counts_more() {
        let (system, own) = ("/etc/ssl/certs/own.pem", "/home/ann/own.pem");
        let session = session(&[
            ("SSL_CERT_FILE", system),
            ("NODE_EXTRA_CA_CERTS", own),
            ("HTTPS_PROXY", "http://proxy.example:3128"),
        ]);
        let added = |own: &[(&str, &str)], sandbox: Option<(&[Folder], &Network)>| {
            let mut variables = own.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
            session.add_to(&mut variables, sandbox);
            variables
        };
        assert_eq!(names(&added(&[], None)), ["HTTPS_PROXY", "NODE_EXTRA_CA_CERTS", "SSL_CERT_FILE"]);
        let kept = added(&[("HTTPS_PROXY", "http://own.example")], None);
        assert_eq!(kept["HTTPS_PROXY"], "http://own.example", "its own");
        let hosts = Network::Hosts(vec!["pypi.org".parse().unwrap()]);
        assert_eq!(names(&added(&[], Some((&[], &Network::None)))), [""; 0], "it reaches nobody");
        let seen = if is_of_system(Path::new(system)) { vec!["SSL_CERT_FILE"] } else { Vec::new() };
        assert_eq!(
            names(&added(&[], Some((&[], &hosts)))),
            seen,
            "the sandbox has its own proxy, and hides the home folder"
        );
        let home = [Folder { path: "/home/ann".into(), access: Access::Read }];
        let all = added(&[], Some((&home, &Network::Full)));
        assert!(all.contains_key("HTTPS_PROXY") && all.contains_key("NODE_EXTRA_CA_CERTS"), "{all:?}");
    }
}
