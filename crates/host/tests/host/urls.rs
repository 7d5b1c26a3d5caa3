//! URLs as displayed to the user: complete, and with the domain highlighted (X23).

use ports::url_parts::{UrlParts, UrlWarning as W};

#[test]
fn url_is_split_into_parts_with_warnings() {
    let cases: &[(&str, &str, &str, &str, &[W], bool)] = &[
        ("https://example.org/a?b#c", "https://", "example.org", "/a?b#c", &[], true),
        ("https://login.example.co.uk:8443/x", "https://login.", "example.co.uk", ":8443/x", &[], true),
        ("https://google.com.evil.test/", "https://google.com.", "evil.test", "/", &[], true),
        ("http://example.org/", "http://", "example.org", "/", &[W::NotEncrypted], true),
        ("https://google.com@evil.test/x", "https://google.com@", "evil.test", "/x", &[W::UserInformation], false),
        ("https://127.0.0.1:9/x", "https://", "127.0.0.1", ":9/x", &[W::IpAddress, W::Local], true),
        ("https://[::1]/x", "https://", "[::1]", "/x", &[W::IpAddress, W::Local], true),
        ("http://localhost:3000/", "http://", "localhost", ":3000/", &[W::NotEncrypted, W::Local], true),
        ("https://xn--80ak6aa92e.com/", "https://", "xn--80ak6aa92e.com", "/", &[W::Internationalized], true),
        ("https://аррӏе.com/", "https://", "xn--80ak6aa92e.com", "/", &[W::Internationalized], true),
    ];
    for (url, before, domain, after, warnings, openable) in cases {
        let parts = UrlParts::parse(url);
        assert_eq!(
            (parts.before.as_str(), parts.domain.as_str(), parts.after.as_str()),
            (*before, *domain, *after),
            "[elicit-url-highlight-domain] {url}: the domain is separated"
        );
        assert_eq!(
            format!("{}{}{}", parts.before, parts.domain, parts.after),
            parts.url,
            "{url}: the URL is displayed completely"
        );
        assert_eq!(parts.warnings, *warnings, "[elicit-url-suspicious] {url}: the warnings are complete");
        assert_eq!(parts.openable, *openable, "{url}: the decision if it can be opened");
    }
}

/// X23: the host opens URLs from servers only if they use HTTPS or refer to this computer.
#[test]
fn only_encrypted_or_local_urls_of_servers_can_be_opened() {
    for (url, openable) in [
        ("https://example.org/a", true),
        ("http://example.org/a", false),
        ("http://localhost:3000/a", true),
        ("http://x.localhost./a", true),
        ("http://127.0.0.1/a", true),
        ("http://[::1]/a", true),
        ("http://192.168.0.1/a", false),
        ("http://printer.local/a", false),
        ("http://localhost.evil.test/a", false),
        ("https://google.com@evil.test/", false),
        ("javascript:alert(1)", false),
    ] {
        let parts = UrlParts::parse_requested_by_server(url);
        assert_eq!(parts.openable, openable, "{url}: the decision if it can be opened for a server");
        let as_link = UrlParts::parse(url);
        assert_eq!(
            UrlParts { openable: as_link.openable, ..parts },
            as_link,
            "{url}: the URL is displayed like a link"
        );
    }
}

/// X17, X43: the host opens only http and https URLs.
#[test]
fn other_schemes_and_invalid_urls_cannot_be_opened() {
    let long = format!("https://example.org/{}", "a".repeat(5_000));
    for url in [
        "javascript:alert(1)",
        "file:///etc/passwd",
        "data:text/html,x",
        "vscode://x",
        "ms-msdt:/id",
        "tel:1",
        "smb://h/s",
        "-x",
        "",
        "https://",
        &long,
    ] {
        let parts = UrlParts::parse(url);
        assert!(!parts.openable && parts.warnings == [W::NotAllowed], "{url}: the URL is refused: {parts:?}");
    }
}
