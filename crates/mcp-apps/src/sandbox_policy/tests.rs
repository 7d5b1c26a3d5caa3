//! Tests of the parsed sources of pages, and of the headers and attributes that enforce their policy.

use proptest::prelude::*;
use serde_json::json;

use super::*;
use crate::metadata::{DeclaredDomains, PagePermission};

fn all_grants() -> SandboxGrants {
    let permissions = PagePermission::ALL.into_iter().collect();
    SandboxGrants { declared_origins: true, loopback: true, every_host: true, permissions }
}

fn page_metadata_with_domains(connect: &[&str], resource: &[&str]) -> AppPageMetadata {
    let owned = |list: &[&str]| list.iter().map(|domain| (*domain).to_owned()).collect();
    let domains = DeclaredDomains {
        connect_domains: owned(connect),
        resource_domains: owned(resource),
        ..DeclaredDomains::default()
    };
    AppPageMetadata { domains: Some(domains), ..AppPageMetadata::default() }
}

fn csp_directive_value<'a>(policy: &'a str, name: &str) -> Option<&'a str> {
    policy.split("; ").find_map(|directive| directive.strip_prefix(name)?.strip_prefix(' '))
}

#[test]
fn csp_without_declared_domains_is_the_restrictive_default() {
    let policy = SandboxPolicy::new(&AppPageMetadata::default(), &all_grants());
    let expected = "default-src 'none'; script-src 'self' 'unsafe-inline'; style-src 'self' 'unsafe-inline'; \
                    img-src 'self' data:; font-src 'none'; media-src 'self' data:; connect-src 'none'; \
                    frame-src 'none'; worker-src 'none'; object-src 'none'; base-uri 'self'; form-action 'none'; \
                    frame-ancestors tauri://localhost; webrtc 'block'";
    let ancestor = FrameAncestor::new("tauri://localhost").unwrap();
    assert_eq!(policy.content_security_policy(&[ancestor]), expected);
    assert_eq!(policy.granted().as_value(), &json!({ "permissions": {}, "csp": {} }));
}

#[test]
fn declared_domains_occur_only_in_their_csp_directives() {
    let metadata = page_metadata_with_domains(
        &["https://api.example.com", "wss://live.example.com:8443"],
        &["https://*.example.com/"],
    );
    let policy = SandboxPolicy::new(&metadata, &all_grants());
    let header = policy.content_security_policy(&[]);
    assert_eq!(
        csp_directive_value(&header, "connect-src"),
        Some("https://api.example.com wss://live.example.com:8443")
    );
    for name in ["script-src", "style-src", "img-src", "font-src", "media-src"] {
        let sources = csp_directive_value(&header, name).unwrap();
        assert!(sources.ends_with(" https://*.example.com"), "{name} {sources}");
        assert!(!sources.contains("api."), "{name} {sources}");
    }
    assert_eq!(csp_directive_value(&header, "frame-src"), Some("'none'"));
    assert_eq!(csp_directive_value(&header, "frame-ancestors"), Some("'none'"));
    let csp = json!({
        "connectDomains": ["https://api.example.com", "wss://live.example.com:8443"],
        "resourceDomains": ["https://*.example.com"],
    });
    assert_eq!(policy.granted().as_value()["csp"], csp);
}

#[test]
fn frame_and_base_uri_domains_appear_only_in_their_csp_directives() {
    let domains = DeclaredDomains {
        frame_domains: vec!["https://video.example".into()],
        base_uri_domains: vec!["https://cdn.example".into()],
        ..DeclaredDomains::default()
    };
    let metadata = AppPageMetadata { domains: Some(domains), ..AppPageMetadata::default() };
    let header = SandboxPolicy::new(&metadata, &all_grants()).content_security_policy(&[]);
    assert_eq!(csp_directive_value(&header, "frame-src"), Some("https://video.example"));
    assert_eq!(csp_directive_value(&header, "base-uri"), Some("https://cdn.example"));
}

#[test]
fn unusable_domains_are_dropped_with_their_reasons() {
    use DeclaredDomainProblem::*;
    let refused = [
        ("example.com", NotAnOrigin),
        ("https://", NotAnOrigin),
        ("https://localhost:*", Asterisk),
        ("https://a.example;script-src *", ForbiddenCharacter),
        ("https://a.example 'unsafe-eval'", ForbiddenCharacter),
        ("https://a.example,b", ForbiddenCharacter),
        ("'unsafe-eval'", ForbiddenCharacter),
        ("data:", NotAnOrigin),
        ("blob://x", Scheme),
        ("ui://clock", Scheme),
        ("tauri://localhost", Scheme),
        ("http://example.com", Scheme),
        ("ws://192.168.1.1", Scheme),
        ("https://example.com/path", MoreThanOrigin),
        ("https://example.com?a", MoreThanOrigin),
        ("https://user@example.com", MoreThanOrigin),
        ("https://*.com", Asterisk),
        ("https://a.*.example.com", Asterisk),
        ("https://**.example.com", Asterisk),
        ("https://*.127.0.0.1", Asterisk),
        ("https://[::1]", Ipv6),
        ("https://ipc.localhost", ReservedHost),
        ("http://ipc.localhost", ReservedHost),
        ("https://*.localhost", ReservedHost),
        ("http://0.0.0.0", ReservedHost),
        ("https://example.com.", ForbiddenCharacter),
    ];
    for (domain, problem) in refused {
        assert_eq!(CspSource::parse(domain, CspSourceUse::Connect), Err(problem), "{domain}");
        let policy = SandboxPolicy::new(&page_metadata_with_domains(&[domain], &[]), &all_grants());
        assert_eq!(policy.sources.dropped.len(), 1);
        assert_eq!(csp_directive_value(&policy.content_security_policy(&[]), "connect-src"), Some("'none'"));
    }
    assert_eq!(CspSource::parse("wss://example.com", CspSourceUse::Resource), Err(Scheme));
}

#[test]
fn sources_are_classified_by_their_reach() {
    let reach = |domain: &str| CspSource::parse(domain, CspSourceUse::Connect).map(|source| source.reach());
    for domain in ["http://localhost:3000", "ws://localhost:3000", "https://127.0.0.1", "http://127.9.9.9"] {
        assert_eq!(reach(domain), Ok(CspSourceReach::Loopback), "{domain}");
    }
    for domain in ["https://192.168.1.1", "https://printer.local", "https://intranet", "https://100.64.0.1"] {
        assert_eq!(reach(domain), Ok(CspSourceReach::PrivateNetwork), "{domain}");
    }
    for domain in ["https://example.com", "https://*.example.com", "https://8.8.8.8", "https://BÜCHER.example"] {
        assert_eq!(reach(domain), Ok(CspSourceReach::Internet), "{domain}");
    }
    assert_eq!(reach("*"), Ok(CspSourceReach::EveryHost));
}

#[test]
fn different_spellings_of_an_origin_are_one_csp_source() {
    let policy = SandboxPolicy::new(
        &page_metadata_with_domains(&["https://Example.com", "https://example.com:443/", "https://exa%6dple.com"], &[]),
        &all_grants(),
    );
    assert_eq!(
        policy.sources.with_use(CspSourceUse::Connect).map(ToString::to_string).collect::<Vec<_>>(),
        ["https://example.com"]
    );
}

#[test]
fn wildcard_and_loopback_sources_require_separate_grants() {
    let metadata = page_metadata_with_domains(&["*", "http://localhost:3000", "https://a.example"], &["*"]);
    let only = |grants: SandboxGrants| {
        let policy = SandboxPolicy::new(&metadata, &grants);
        let header = policy.content_security_policy(&[]);
        (csp_directive_value(&header, "connect-src").unwrap().to_owned(), policy.sources.dropped.len())
    };
    let none = SandboxGrants::default();
    assert_eq!(only(none.clone()), ("'none'".into(), 4));
    assert_eq!(only(SandboxGrants { declared_origins: true, ..none.clone() }), ("https://a.example".into(), 3));
    assert_eq!(only(SandboxGrants { loopback: true, ..none.clone() }), ("http://localhost:3000".into(), 3));
    assert_eq!(only(SandboxGrants { every_host: true, ..none }), ("https: wss:".into(), 2));
    let header = SandboxPolicy::new(&metadata, &all_grants()).content_security_policy(&[]);
    assert!(!header.contains('*'), "the policy should exclude unencrypted schemes: {header}");
    assert_eq!(csp_directive_value(&header, "img-src"), Some("'self' data: https:"));
}

#[test]
fn permission_must_be_declared_and_granted() {
    let requested: PagePermissions = [PagePermission::ClipboardWrite, PagePermission::Camera].into_iter().collect();
    let metadata = AppPageMetadata { permissions: requested, ..AppPageMetadata::default() };
    let grants = |permissions: &[PagePermission]| {
        SandboxPolicy::new(
            &metadata,
            &SandboxGrants { permissions: permissions.iter().copied().collect(), ..SandboxGrants::default() },
        )
    };
    let policy = grants(&[PagePermission::ClipboardWrite, PagePermission::Microphone]);
    assert_eq!(policy.frame_allow_attribute(), "clipboard-write");
    assert_eq!(policy.granted().as_value()["permissions"], json!({ "clipboardWrite": {} }));
    let header = policy.permissions_policy();
    assert!(header.starts_with("camera=(), microphone=(), geolocation=(), clipboard-write=(self), "), "{header}");
    assert!(header.contains("usb=()"));
    assert_eq!(grants(&PagePermission::ALL).frame_allow_attribute(), "camera; clipboard-write");
    assert_eq!(grants(&[]).frame_allow_attribute(), "");
}

#[test]
fn frame_ancestors_must_be_origins() {
    for origin in ["tauri://localhost", "http://tauri.localhost", "http://127.0.0.1:1420"] {
        assert!(FrameAncestor::new(origin).is_ok(), "{origin}");
    }
    for text in ["*", "localhost", "tauri://", "https://a; script-src *", "https://*.example", "https://a/b", "://a"] {
        assert!(FrameAncestor::new(text).is_err(), "{text}");
    }
}

proptest! {
    #[test]
    fn x56_declared_domain_cannot_add_a_csp_directive(
        connect in proptest::collection::vec("\\PC{0,30}", 0..4),
        resource in proptest::collection::vec("(https|wss|http)://[a-z*.:;,' /@\\[\\]0-9]{0,20}", 0..4),
    ) {
        let names = |header: &str| header.split("; ").map(|part| part.split(' ').next().unwrap().to_owned()).collect::<Vec<_>>();
        let connect: Vec<&str> = connect.iter().map(String::as_str).collect();
        let resource: Vec<&str> = resource.iter().map(String::as_str).collect();
        let policy = |connect: &[&str], resource: &[&str]| {
            SandboxPolicy::new(&page_metadata_with_domains(connect, resource), &all_grants())
        };
        let header = policy(&connect, &resource).content_security_policy(&[]);
        let plain = policy(&[], &[]).content_security_policy(&[]);
        prop_assert_eq!(names(&header), names(&plain));
        prop_assert!(header.bytes().all(|byte| byte.is_ascii_graphic() || byte == b' '));
        prop_assert!(!header.contains(','), "a comma would begin another policy");
        let keywords = header.split([' ', ';']).filter(|word| word.starts_with('\''));
        prop_assert!(keywords.into_iter().all(|word| ["'none'", "'self'", "'unsafe-inline'", "'block'"].contains(&word)));
    }
}
