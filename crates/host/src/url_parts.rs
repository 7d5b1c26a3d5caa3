//! A URL taken apart, so that the user sees whole what would be opened, with the domain that answers for it marked.

use url::{Host, Url};

/// The longest URL that is shown and opened, in bytes.
pub const MAX_URL: usize = 4_096;

/// A URL in three parts, and what is strange about it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UrlParts {
    /// The URL as it would be opened.
    pub url: String,
    /// All before the registrable domain.
    pub before: String,
    /// The registrable domain, or the host where there is none.
    pub domain: String,
    /// All after the host.
    pub after: String,
    /// The host in ASCII, if it was written otherwise.
    pub ascii_host: Option<String>,
    /// What to look at.
    pub warnings: Vec<UrlWarning>,
    /// Whether it may be opened.
    pub openable: bool,
}

/// What is strange about a URL.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UrlWarning {
    /// It is not https.
    NotEncrypted,
    /// It has a user name or password.
    UserInformation,
    /// Its host is not ASCII, or is the ASCII form of one that is not.
    Internationalized,
    /// Its host is an address.
    IpAddress,
    /// It leads to this computer or the local network.
    Local,
    /// It can't be opened at all.
    NotAllowed,
}

impl UrlParts {
    /// Takes a URL apart. It is openable if it is http or https, not overlong, and has no user information.
    #[must_use]
    pub fn of(text: &str) -> Self {
        let parsed = (text.len() <= MAX_URL).then(|| Url::parse(text).ok()).flatten();
        let Some((url, host)) = parsed.as_ref().and_then(|url| Some((url, url.host()?))) else {
            return Self::not_openable(text);
        };
        if !matches!(url.scheme(), "http" | "https") {
            return Self::not_openable(text);
        }
        let mut warnings = Vec::new();
        if url.scheme() != "https" {
            warnings.push(UrlWarning::NotEncrypted);
        }
        let user_information = !url.username().is_empty() || url.password().is_some();
        if user_information {
            warnings.push(UrlWarning::UserInformation);
        }
        let host_text = host.to_string();
        let is_address = !matches!(host, Host::Domain(_));
        if is_address {
            warnings.push(UrlWarning::IpAddress);
        }
        if is_local(&host) {
            warnings.push(UrlWarning::Local);
        }
        // `Url` keeps the host in ASCII; a label with "xn--" was, or stands for, something else.
        let internationalized = host_text.split('.').any(|label| label.starts_with("xn--"));
        if internationalized {
            warnings.push(UrlWarning::Internationalized);
        }
        let domain = if is_address { host_text.clone() } else { registrable(&host_text).to_owned() };
        let whole = url.as_str();
        let host_at = whole.find("://").map_or(0, |i| i + 3);
        let host_at = host_at + whole[host_at..].find('@').filter(|_| user_information).map_or(0, |i| i + 1);
        let host_end = host_at + whole[host_at..].find(&host_text).unwrap_or(0) + host_text.len();
        let domain_at = host_end - domain.len();
        Self {
            url: whole.to_owned(),
            before: whole[..domain_at].to_owned(),
            domain,
            after: whole[host_end..].to_owned(),
            ascii_host: internationalized.then_some(host_text),
            warnings,
            openable: !user_information,
        }
    }

    fn not_openable(text: &str) -> Self {
        let shown: String = text.chars().take(MAX_URL).collect();
        Self {
            url: shown.clone(),
            before: String::new(),
            domain: String::new(),
            after: shown,
            ascii_host: None,
            warnings: vec![UrlWarning::NotAllowed],
            openable: false,
        }
    }
}

/// The registrable domain by the public suffix list.
fn registrable(host: &str) -> &str {
    psl::domain_str(host).unwrap_or(host)
}

fn is_local(host: &Host<&str>) -> bool {
    match host {
        Host::Domain(name) => {
            let name = name.trim_end_matches('.');
            name == "localhost" || name.ends_with(".localhost") || name.ends_with(".local") || !name.contains('.')
        }
        Host::Ipv4(ip) => ip.is_loopback() || ip.is_private() || ip.is_link_local() || ip.is_unspecified(),
        Host::Ipv6(ip) => match ip.to_ipv4_mapped() {
            Some(ip) => is_local(&Host::Ipv4(ip)),
            None => ip.is_loopback() || ip.is_unspecified() || ip.is_unique_local() || ip.is_unicast_link_local(),
        },
    }
}
