//! Tests of patterns that can be written in several ways, and of the locations that they cover in other spellings.

use policy::{ArgumentPattern, ArgumentRule, PolicyRule, RuleEffect, UriPattern};
use serde_json::json;

use crate::support::{TestCall, decision_effect, policy_with_rules, rule};

fn decide(effect: RuleEffect, is: ArgumentPattern, value: &str) -> RuleEffect {
    let arguments = vec![ArgumentRule { at: "/x".to_owned(), is }];
    let policy = policy_with_rules(&[], &[PolicyRule { arguments, ..rule(effect, "server", None) }]);
    let call = TestCall { arguments: json!({ "x": value }), ..TestCall::default() };
    decision_effect(call.with_act(|act| policy.decide(&act, 0)))
}

fn address_pattern(text: &str) -> ArgumentPattern {
    ArgumentPattern::Address(text.to_owned())
}

fn glob_pattern(text: &str) -> ArgumentPattern {
    ArgumentPattern::Glob(text.to_owned())
}

#[test]
fn denied_address_with_an_encoded_slash_is_denied_encoded_and_decoded() {
    for value in [
        "https://git.x/projects/group%2Fname/files",
        "https://git.x/projects/group%2fname/files",
        "https://git.x/projects/group%252Fname/files",
        "https://git.x/projects/group/name/files",
        "http://git.x:8080/projects/group%2Fname/files",
    ] {
        for is in [address_pattern, glob_pattern] {
            let is = is("https://git.x/projects/group%2Fname/*");
            assert_eq!(decide(RuleEffect::Deny, is.clone(), value), RuleEffect::Deny, "{is:?} and {value}");
        }
    }
    let other = "https://git.x/projects/group%2Fother/files";
    for is in [address_pattern, glob_pattern] {
        assert_eq!(
            decide(RuleEffect::Deny, is("https://git.x/projects/group%2Fname/*"), other),
            RuleEffect::Ask,
            "{other}"
        );
    }
    let pattern = UriPattern::compile("https://git.x/group%2Fname/*").unwrap();
    assert!(pattern.refuses("http://git.x/group%2Fname/files"), "a refusal covers another web scheme");
}

#[test]
fn encoded_wildcard_of_an_address_is_literal() {
    let allow = |pattern: &str, value: &str| decide(RuleEffect::Allow, address_pattern(pattern), value);
    assert_eq!(allow("https://api.x/a%2Ab", "https://api.x/a*b"), RuleEffect::Allow, "the character");
    for (pattern, value) in [
        ("https://api.x/a%2Ab", "https://api.x/a-secret-b"),
        ("https://api.x/a%3Fb", "https://api.x/a-b"),
        ("https://api.x/%2A%2A/b", "https://api.x/secret/keys/b"),
    ] {
        assert_eq!(allow(pattern, value), RuleEffect::Ask, "{pattern} is not a wildcard that matches {value}");
    }
}

#[test]
fn denied_proc_path_is_denied_under_its_aliases() {
    let (path, folder) = (ArgumentPattern::Path, ArgumentPattern::Folder);
    for (is, value) in [
        (path("/proc/1/*".to_owned()), "/proc/self/root/proc/1/environ"),
        (folder("/proc/1".to_owned()), "/proc/self/root/proc/1/environ"),
        (folder("/proc/1".to_owned()), "/proc/self/environ"),
        (path("/System/Volumes/Data/keys".to_owned()), "/System/Volumes/Data/System/Volumes/Data/keys"),
    ] {
        assert_eq!(decide(RuleEffect::Deny, is.clone(), value), RuleEffect::Deny, "{is:?} and {value}");
    }
    let status = "/proc/1/status";
    assert_eq!(
        decide(RuleEffect::Allow, path("/proc/1/*".to_owned()), status),
        RuleEffect::Allow,
        "{status} is allowed"
    );
}

#[test]
fn default_port_of_a_scheme_is_optional() {
    for (scheme, port) in [("http", 80), ("ws", 80), ("https", 443), ("wss", 443), ("ftp", 21)] {
        let (bare, full) = (format!("{scheme}://evil.x/a"), format!("{scheme}://evil.x:{port}/a"));
        for is in [address_pattern, glob_pattern] {
            assert_eq!(decide(RuleEffect::Deny, is(&bare), &full), RuleEffect::Deny, "{bare} covers {full}");
            assert_eq!(decide(RuleEffect::Deny, is(&full), &bare), RuleEffect::Deny, "{full} covers {bare}");
        }
        let pattern = UriPattern::compile(&bare).unwrap();
        assert!(pattern.refuses(&bare.replace(scheme, "https")), "{bare} is refused by each scheme of the web");
    }
}

#[test]
fn identity_rule_matches_every_spelling_of_an_address() {
    let deny = |identity: &str| PolicyRule {
        identity: Some(identity.to_owned()),
        direction: policy::RuleDirection::Both,
        ..rule(RuleEffect::Deny, "*", None)
    };
    let decide = |rule: PolicyRule, words: &str| {
        let mut policy = policy_with_rules(&[rule], &[]);
        policy.set_server_identity("server", vec![words.to_owned()]);
        let hash = policy::Hash::of_json(&json!("x"));
        decision_effect(policy.decide(&policy::PolicyAct::ConnectServer { server: "server", address: &hash }, 0))
    };
    for words in [
        "https://evil-mcp.example/",
        "https://EVIL-MCP.example/",
        "https://evil-mcp%2eexample/",
        "https://\u{ff45}\u{ff56}\u{ff49}\u{ff4c}-mcp.example/",
        "https://evil-mcp\u{3002}example/",
        "https://evil-mcp.example:443/mcp",
        "https://evil-mcp.example./mcp",
        "https://user@evil-mcp.example/mcp",
        "npx -y mcp-remote https://Evil-MCP.example/mcp --allow",
    ] {
        for identity in ["*evil-mcp.example*", "*EVIL-mcp.example*", "evil-mcp.example", "*//evil-mcp.example/*"] {
            assert_eq!(decide(deny(identity), words), RuleEffect::Deny, "{identity} and {words}");
        }
    }
    for words in ["https://good-mcp.example/", "https://evil-mcp.example.org.good/"] {
        assert_eq!(decide(deny("evil-mcp.example"), words), RuleEffect::Ask, "{words} is another host");
    }
    assert_eq!(decide(deny("*b\u{fc}cher.x*"), "https://xn--bcher-kva.x/"), RuleEffect::Deny, "in letters");
    assert_eq!(decide(deny("*xn--bcher-kva.x*"), "https://b\u{fc}cher.x/"), RuleEffect::Deny, "in Punycode");
}
