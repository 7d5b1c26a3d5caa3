//! Tests of alternative spellings of paths and addresses: a denied location remains denied, and an allowed one is
//! really at the location in the rule.

use std::sync::LazyLock;

use percent_encoding::percent_decode_str;
use policy::{ArgumentPattern, ArgumentRule, Policy, PolicyFile, PolicyRule, ResolvedPaths, RuleEffect};
use proptest::prelude::*;
use serde_json::{Map, Value, json};
use url::Url;

use crate::support::{TestCall, decision_effect, policy_with_rules, rule};

fn rule_with_argument(effect: RuleEffect, is: ArgumentPattern) -> PolicyRule {
    PolicyRule { arguments: vec![ArgumentRule { at: "/x".to_owned(), is }], ..rule(effect, "server", None) }
}

fn decide(rule: &PolicyRule, value: Value, paths: ResolvedPaths) -> RuleEffect {
    let call = TestCall { arguments: json!({ "x": value }), paths, ..TestCall::default() };
    decision_effect(call.with_act(|act| policy_with_rules(&[], std::slice::from_ref(rule)).decide(&act, 0)))
}

fn path_pattern(text: &str) -> ArgumentPattern {
    ArgumentPattern::Path(text.to_owned())
}

fn folder_pattern(text: &str) -> ArgumentPattern {
    ArgumentPattern::Folder(text.to_owned())
}

fn glob_pattern(text: &str) -> ArgumentPattern {
    ArgumentPattern::Glob(text.to_owned())
}

fn address_pattern(text: &str) -> ArgumentPattern {
    ArgumentPattern::Address(text.to_owned())
}

#[test]
fn path_and_address_rules_cannot_be_bypassed_by_respelling() {
    let (allow, ask, deny) = (RuleEffect::Allow, RuleEffect::Ask, RuleEffect::Deny);
    let cases = [
        (deny, glob_pattern("/secret/*"), "//secret/x", deny),
        (deny, glob_pattern("/secret/*"), "/./secret/x", deny),
        (deny, glob_pattern("/secret/*"), "/a/../secret/x", deny),
        (deny, glob_pattern("/secret/*"), "/secret", deny),
        (deny, glob_pattern("/secret/**"), "/./secret", deny),
        (deny, glob_pattern("*/.ssh/*"), "/home/ann/.ssh", deny),
        (deny, glob_pattern("/secret/*"), "/secrets", ask),
        (deny, path_pattern("/secret/*"), "/secret", deny),
        (deny, path_pattern("/secret/**"), "/secret/", deny),
        (deny, path_pattern("/secret/*"), "/Secret", deny),
        (deny, path_pattern("/secret/*"), "/secrets", ask),
        (deny, path_pattern("/secret/*"), "/", ask),
        (deny, path_pattern(r"C:\secret\*"), r"c:\SECRET", deny),
        (deny, path_pattern(r"C:\secret\*"), r"\\?\C:\secret\x", deny),
        (deny, path_pattern(r"C:\secret\*"), r"\\.\C:\secret\x", deny),
        (deny, path_pattern(r"C:\secret\*"), r"\??\C:\secret\x", deny),
        (deny, path_pattern(r"C:\secret\*"), r"C:secret\x", deny),
        (deny, path_pattern(r"\\host\share\*"), r"\\?\UNC\host\share\x", deny),
        (deny, folder_pattern(r"\\host\share"), r"\\.\UNC\host\share\x", deny),
        (allow, glob_pattern("/public/*"), "/public", ask),
        (allow, path_pattern("/public/*"), "/public", ask),
        (allow, path_pattern(r"\\host\share\*"), r"\\?\UNC\host\share\x", ask),
        (deny, glob_pattern("https://evil.x/*"), "http://evil.x/a", deny),
        (deny, glob_pattern("https://evil.x/*"), "http://evil.x:8080/a", deny),
        (deny, glob_pattern("https://evil.x/*"), "wss://EVIL.x./a", deny),
        (deny, glob_pattern("http://evil.x/*"), "https://evil.x/a", deny),
        (deny, glob_pattern("https://*.evil.x/*"), "http://a.evil.x/b", deny),
        (deny, glob_pattern("https://evil.x/*"), "https://evil.x", deny),
        (deny, glob_pattern("https://evil.x/*"), "https://good.x/?evil.x/", ask),
        (deny, glob_pattern("https://evil*/*"), "https://evil.x:81/a", deny),
        (deny, glob_pattern("https://evil.x/a/*"), "http://evil.x/a", deny),
        (deny, glob_pattern("https://evil.x/a/*"), "http://evil.x/a/b", deny),
        (deny, glob_pattern("https://evil.x/a/*"), "http://evil.x/b", ask),
        (deny, glob_pattern("http://*"), "https://good.x/", ask),
        (deny, address_pattern("https://evil.x"), "http://evil.x/a", deny),
        (deny, address_pattern("https://evil.x"), "http://evil.x:8080/a", deny),
        (deny, address_pattern("https://evil.x:443"), "ws://evil.x/a", deny),
        (deny, address_pattern("https://evil.x:8443"), "http://evil.x:8443/a", deny),
        (deny, address_pattern("https://evil.x:8443"), "https://evil.x/a", ask),
        (deny, address_pattern("https://*.evil.x"), "http://a.evil.x/a", deny),
        (deny, address_pattern("https://evil.x/a/*"), "http://evil.x/a", deny),
        (deny, address_pattern("https://evil.x/a/*"), "http://evil.x/b", ask),
        (deny, address_pattern("http://*"), "https://good.x/", ask),
        (allow, glob_pattern("https://good.x/*"), "http://good.x/a", ask),
        (allow, address_pattern("https://good.x"), "http://good.x/a", ask),
        (allow, address_pattern("https://good.x"), "https://good.x:8443/a", ask),
        (deny, glob_pattern("/etc/passwd"), "/etc/x/../passwd", deny),
        (deny, glob_pattern("/etc/passwd"), "/etc/other", ask),
        (allow, glob_pattern("/public/a"), "/public/x/../a", ask),
        (allow, glob_pattern("/public/*"), "/public//a", ask),
        (allow, glob_pattern("/public/*"), "/public/a", allow),
        (allow, glob_pattern("https://api.x/public/*"), "https://api.x/public/%2e%2e/admin", ask),
        (allow, glob_pattern("https://api.x/public/*"), "https://api.x/public/a", allow),
        (allow, glob_pattern("https://*.x.com/*"), "https://evil/a.x.com/", ask),
        (allow, glob_pattern("https://*.x.com/*"), "https://a.x.com/b", allow),
        (allow, glob_pattern("https://api.x*"), "https://api.x@evil/", ask),
        (allow, glob_pattern("https://api.x*"), "https://api.x/a", allow),
        (deny, glob_pattern("*evil.x*"), "EVIL.x", deny),
        (deny, glob_pattern("https://evil.x*"), "evil.x", deny),
        (deny, glob_pattern("/secret/*"), "file:///secret/k", deny),
        (allow, glob_pattern("*good.x*"), "GOOD.x", ask),
        (deny, folder_pattern("/secret"), "/%73ecret/k", deny),
        (deny, folder_pattern("/secret"), "/public/k", ask),
        (allow, folder_pattern("/pub"), "/pub/%2e%2e/secret/k", ask),
        (allow, folder_pattern("/pub"), "/pub/..%2fsecret/k", ask),
        (allow, folder_pattern("/pub"), r"/pub/..\..\secret\k", ask),
        (allow, folder_pattern("/pub"), "/pub/k", allow),
        (deny, path_pattern("/secret/*"), "//secret/x", deny),
        (deny, path_pattern("/secret/*"), "/public/x", ask),
        (allow, path_pattern("/public/*"), "/public/../etc/passwd", ask),
        (allow, path_pattern("/public/*"), "/public//a", allow),
        (allow, path_pattern("/public/*"), "public/a", ask),
        (deny, address_pattern("https://evil.x"), "https://EVIL.x.:443/a", deny),
        (deny, address_pattern("https://evil.x"), "https://user@evil%2ex/", deny),
        (deny, address_pattern("https://evil.x"), "https://good.x/", ask),
        (allow, address_pattern("https://api.x/public/*"), "https://api.x/public/%2e%2e/admin", ask),
        (allow, address_pattern("https://*.x.com"), "https://evil/a.x.com/", ask),
        (allow, address_pattern("https://api.x"), "https://api.x@evil/", ask),
        (allow, address_pattern("https://api.x"), "https://api.x/a", allow),
    ];
    for (effect, is, value, expected) in cases {
        let rule = rule_with_argument(effect, is);
        assert_eq!(decide(&rule, json!(value), ResolvedPaths::Elsewhere), expected, "{rule:?} and {value}");
    }
}

#[test]
fn lists_and_nested_arguments_are_matched_item_by_item() {
    let rule_at = |effect, at: &str, is| PolicyRule {
        arguments: vec![ArgumentRule { at: at.to_owned(), is }],
        ..rule(effect, "server", None)
    };
    let decide = |rule: PolicyRule, arguments: Value| {
        let call = TestCall { arguments, ..TestCall::default() };
        decision_effect(call.with_act(|act| policy_with_rules(&[], std::slice::from_ref(&rule)).decide(&act, 0)))
    };
    let (allow, ask, deny) = (RuleEffect::Allow, RuleEffect::Ask, RuleEffect::Deny);
    let both = json!({"o": {"list": ["/public/a", "//secret/x"]}});
    let number = |text: &str| ArgumentPattern::Number(text.to_owned());
    for (what, rule, arguments, expected) in [
        ("one of two is denied", rule_at(deny, "/o/list", path_pattern("/secret/*")), both.clone(), deny),
        ("one of two is denied by a glob", rule_at(deny, "/o/list", glob_pattern("/secret/*")), both.clone(), deny),
        ("not both are allowed", rule_at(allow, "/o/list", path_pattern("/public/*")), both.clone(), ask),
        ("the one that is named is", rule_at(allow, "/o/list/0", path_pattern("/public/*")), both.clone(), allow),
        ("neither is", rule_at(deny, "/o/list", path_pattern("/etc")), both, ask),
        ("an empty list", rule_at(allow, "/l", path_pattern("/public/*")), json!({"l": []}), ask),
        ("an empty list, denied", rule_at(deny, "/l", path_pattern("/public/*")), json!({"l": []}), ask),
        ("numbers", rule_at(allow, "/n", number("1..10")), json!({"n": [1, 10]}), allow),
        ("one too large", rule_at(allow, "/n", number("1..10")), json!({"n": [1, 11]}), ask),
        ("one that is a text", rule_at(allow, "/n", number("1..10")), json!({"n": ["5"]}), ask),
        ("a text is denied", rule_at(deny, "/n", number("1..10")), json!({"n": "5"}), deny),
        ("another one is not", rule_at(deny, "/n", number("1..10")), json!({"n": "50"}), ask),
        ("a list in a list", rule_at(allow, "/n", number("1..10")), json!({"n": [[1]]}), ask),
        ("a list in a list, denied", rule_at(deny, "/n", number("1..10")), json!({"n": [[1]]}), deny),
        ("a number is no path", rule_at(deny, "/n", path_pattern("/secret")), json!({"n": 5}), ask),
        ("as many items as are judged", rule_at(allow, "/n", number("1")), json!({"n": vec![1; 1_000]}), allow),
        ("more items than are judged", rule_at(allow, "/n", number("1")), json!({"n": vec![1; 1_001]}), ask),
        ("more of what is denied", rule_at(deny, "/n", number("2")), json!({"n": vec![1; 1_001]}), deny),
        ("nothing there", rule_at(deny, "/n", path_pattern("/secret")), json!({"n": null}), ask),
        ("a name with a slash", rule_at(deny, "/a~1b", number("1")), json!({"a/b": 1}), deny),
        ("a name with a tilde", rule_at(deny, "/a~01", number("1")), json!({"a~1": 1}), deny),
    ] {
        assert_eq!(decide(rule, arguments), expected, "{what}");
    }
}

#[test]
fn explanation_contains_each_condition_with_its_value() {
    let rule = rule_with_argument(RuleEffect::Deny, path_pattern("/secret/*"));
    let policy = policy_with_rules(&[], std::slice::from_ref(&rule));
    let link = "/public/link".to_owned();
    let paths = ResolvedPaths::Here([(link.clone(), Some("/secret/x".to_owned()))].into());
    let call = TestCall { arguments: json!({ "x": link }), paths, ..TestCall::default() };
    let explained = call.with_act(|act| policy.explain(&act, 0));
    let judged = &explained.considered[0].arguments[0];
    assert!(judged.holds, "a link into the folder is denied: {judged:?}");
    assert_eq!((judged.number, judged.reason.name()), (0, "leads-elsewhere"), "why");
    assert_eq!(judged.value.as_deref(), Some(r#""/public/link""#), "the value");
    assert_eq!(judged.normal, ["/secret/x"], "the resolved location");
    let long = TestCall { arguments: json!({ "x": "x".repeat(70_000) }), ..TestCall::default() };
    let explained = long.with_act(|act| policy.explain(&act, 0));
    let judged = &explained.considered[0].arguments[0];
    assert_eq!((judged.holds, judged.reason.name()), (true, "too-long"), "a value that is too long is doubtful");
    assert_eq!(judged.value.as_ref().map(String::len), Some(200), "only its beginning is shown");
    let elsewhere = TestCall { tool: "t".to_owned(), server: "other".to_owned(), ..TestCall::default() };
    let explained = elsewhere.with_act(|act| policy.explain(&act, 0));
    assert!(explained.considered[0].arguments.is_empty(), "a rule about another server has no results");
    let glob = rule_with_argument(RuleEffect::Deny, glob_pattern("/secret/*"));
    let explained = TestCall { arguments: json!({ "x": "/a/../b" }), ..TestCall::default() }
        .with_act(|act| policy_with_rules(&[], std::slice::from_ref(&glob)).explain(&act, 0));
    assert_eq!(explained.considered[0].arguments[0].normal, ["/b"], "the value of a glob is normalized");
}

#[test]
fn only_paths_named_by_a_rule_are_resolved() {
    let policy = policy_with_rules(
        &[],
        &[
            rule_with_argument(RuleEffect::Deny, path_pattern("/secret/*")),
            rule_with_argument(RuleEffect::Deny, glob_pattern("/a/*")),
        ],
    );
    let values = json!({"x": ["/public/a", 5, "rel"], "y": "/other"});
    let arguments = values.as_object().unwrap();
    let paths: Vec<&str> = policy.paths_in_call("server", "tool", arguments).into_iter().collect();
    assert_eq!(paths, ["/public/a", "/secret", "rel"], "the values, and the beginning of the pattern");
    assert!(policy.paths_in_call("other", "tool", arguments).is_empty(), "no paths for another server");
    let tool =
        PolicyRule { tool: Some("one".to_owned()), ..rule_with_argument(RuleEffect::Deny, path_pattern("/secret/*")) };
    let mut of_tool = policy_with_rules(&[], &[tool]);
    assert!(of_tool.paths_in_call("server", "tool", arguments).is_empty(), "no paths for another tool");
    assert_eq!(of_tool.paths_in_call("server", "one", arguments).len(), 3, "all paths for the tool of the rule");
    let glob_only = policy_with_rules(&[], &[rule_with_argument(RuleEffect::Deny, glob_pattern("/a/*"))]);
    assert!(glob_only.paths_in_call("server", "tool", arguments).is_empty(), "no paths for a glob");
    of_tool.set_user_rules(PolicyFile::default()).unwrap();
    assert!(of_tool.paths_in_call("server", "one", arguments).is_empty(), "no paths after the rule is removed");
    assert!(policy.paths_in_call("server", "tool", &Map::new()).is_empty(), "no paths without a value");
    let many: Vec<String> = (0..500).map(|i| format!("/p/{i:03}")).collect();
    let many = json!({ "x": many });
    assert_eq!(
        policy.paths_in_call("server", "tool", many.as_object().unwrap()).len(),
        256,
        "the number of paths is limited"
    );
}

/// A policy with one rule, compiled once because compiling takes longer than deciding.
struct SingleRulePolicy(ArgumentPattern, Policy);

impl SingleRulePolicy {
    fn one_policy_per_pattern<const N: usize>(effect: RuleEffect, kinds: [ArgumentPattern; N]) -> [Self; N] {
        kinds.map(|is| Self(is.clone(), policy_with_rules(&[], &[rule_with_argument(effect, is)])))
    }

    fn decide(&self, value: Value, paths: ResolvedPaths) -> RuleEffect {
        let call = TestCall { arguments: json!({ "x": value }), paths, ..TestCall::default() };
        decision_effect(call.with_act(|act| self.1.decide(&act, 0)))
    }
}

static POLICIES_DENYING_PATHS: LazyLock<[SingleRulePolicy; 4]> = LazyLock::new(|| {
    let kinds = [
        path_pattern("/secret/*"),
        glob_pattern("/secret/*"),
        path_pattern("/secret/a/key"),
        glob_pattern("/secret/a/key"),
    ];
    SingleRulePolicy::one_policy_per_pattern(RuleEffect::Deny, kinds)
});
static POLICIES_ALLOWING_PATHS: LazyLock<[SingleRulePolicy; 2]> = LazyLock::new(|| {
    SingleRulePolicy::one_policy_per_pattern(RuleEffect::Allow, [path_pattern("/public/*"), glob_pattern("/public/*")])
});
static POLICIES_ALLOWING_PUBLIC_FOLDER: LazyLock<[SingleRulePolicy; 1]> =
    LazyLock::new(|| SingleRulePolicy::one_policy_per_pattern(RuleEffect::Deny, [path_pattern("/public/*")]));
static POLICIES_DENYING_ADDRESSES: LazyLock<[SingleRulePolicy; 4]> = LazyLock::new(|| {
    let typed = [address_pattern("https://evil.x"), address_pattern("https://evil.x/secret/*")];
    let [origin, below] = typed;
    SingleRulePolicy::one_policy_per_pattern(
        RuleEffect::Deny,
        [origin, below, glob_pattern("https://evil.x/*"), glob_pattern("https://evil.x/secret/*")],
    )
});
static POLICIES_ALLOWING_ADDRESSES: LazyLock<[SingleRulePolicy; 3]> = LazyLock::new(|| {
    let kinds = [
        address_pattern("https://api.x/public/*"),
        glob_pattern("https://api.x/public/*"),
        glob_pattern("https://api.x*"),
    ];
    SingleRulePolicy::one_policy_per_pattern(RuleEffect::Allow, kinds)
});

/// Generates path components that programs may misinterpret.
fn any_ambiguous_component() -> impl Strategy<Value = &'static str> {
    prop::sample::select(vec![
        "public",
        "secret",
        "a",
        "b",
        "",
        ".",
        "..",
        "%2e%2e",
        "%2E.",
        "..%2f",
        "%2f",
        "%5c",
        "%252e%252e",
        r"..\",
        "PUBLIC",
        "%70ublic",
        "a%20b",
        "..;",
    ])
}

/// Generates other spellings of the same path: detours, empty components, percent-encoding.
fn any_respelling(names: Vec<&'static str>) -> impl Strategy<Value = String> {
    let detour = prop::sample::select(vec!["", "/", "/.", "/x/..", "/secret/..", "/./"]);
    prop::collection::vec((detour, any::<prop::sample::Index>(), any::<bool>()), names.len()).prop_map(move |how| {
        let mut text = String::new();
        for (name, (detour, at, encodes)) in names.iter().zip(how) {
            text.push_str(detour);
            text.push('/');
            let at = at.index(name.len());
            match name.char_indices().nth(at) {
                Some((at, letter)) if encodes => {
                    text.push_str(&format!("{}%{:02x}{}", &name[..at], letter as u32, &name[at + 1..]));
                }
                _ => text.push_str(name),
            }
        }
        text
    })
}

fn any_host_spelling() -> impl Strategy<Value = &'static str> {
    prop::sample::select(vec![
        "api.x",
        "API.x",
        "api.x.",
        "%61pi.x",
        "api.x:443",
        "api.x:8443",
        "evil",
        "api.x@evil",
        "evil@api.x",
        "api.x.evil",
        r"api.x\@evil",
        "evil/api.x",
        "evil?api.x",
        "evil#api.x",
        "\u{ff41}pi.x",
        "api\u{3002}x",
        "",
    ])
}

/// Returns `true` if a path is below `/public` after each of zero to four rounds of percent-decoding.
fn is_below_public(path: &str) -> bool {
    let (mut text, mut all) = (path.replace('\\', "/"), true);
    for _ in 0..5 {
        let names = text.split('/').fold(Vec::new(), |mut names, name| {
            match name {
                "" | "." => {}
                ".." => drop(names.pop()),
                name => names.push(name.to_owned()),
            }
            names
        });
        all &= names.first().is_some_and(|first| percent_decode_str(first).decode_utf8_lossy() == "public");
        text = percent_decode_str(&text).decode_utf8_lossy().replace('\\', "/");
    }
    all
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 500, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn denied_path_is_denied_in_every_spelling(text in any_respelling(vec!["secret", "a", "key"])) {
        for ready in POLICIES_DENYING_PATHS.iter() {
            prop_assert_eq!(ready.decide(json!(text), ResolvedPaths::Elsewhere), RuleEffect::Deny, "{:?}", ready.0);
            prop_assert_eq!(ready.decide(json!(["/x", text]), ResolvedPaths::Elsewhere), RuleEffect::Deny, "in a list");
        }
    }

    #[test]
    fn allowed_path_is_within_the_rule(parts in prop::collection::vec(any_ambiguous_component(), 0..6), begins in any::<bool>()) {
        let text = format!("{}/{}", if begins { "/public" } else { "" }, parts.join("/"));
        for ready in POLICIES_ALLOWING_PATHS.iter() {
            if ready.decide(json!(text), ResolvedPaths::Elsewhere) == RuleEffect::Allow {
                prop_assert!(is_below_public(&text), "{} is allowed by {:?}", text, ready.0);
            }
        }
    }

    #[test]
    fn allowed_path_resolves_within_the_rule(inside in any::<bool>(), real in prop::option::of(any_ambiguous_component())) {
        let written = if inside { "/public/a" } else { "/other/a" };
        let real = real.map(|part| format!("/{part}/a"));
        let facts = ResolvedPaths::Here([(written.to_owned(), real.clone())].into());
        if POLICIES_ALLOWING_PATHS[0].decide(json!(written), facts.clone()) == RuleEffect::Allow {
            prop_assert!(inside && real.as_deref() == Some("/public/a"), "{:?} is allowed", real);
        }
        let leads_in = real.as_deref() == Some("/public/a");
        if inside || leads_in || real.is_none() {
            let denied = POLICIES_ALLOWING_PUBLIC_FOLDER[0].decide(json!(written), facts);
            prop_assert_eq!(denied, RuleEffect::Deny, "{} and {:?}", written, real);
        }
    }

    #[test]
    fn denied_address_is_denied_in_every_spelling(
        scheme in prop::sample::select(vec!["https://", "HTTPS://", "https:", "https:////", r"https:\\", " https://", "ht\ntps://"]),
        user in prop::sample::select(vec!["", "user@", "good.x:443@"]),
        host in prop::sample::select(vec!["evil.x", "EVIL.x", "evil.x.", "evil%2ex", "\u{ff45}vil.x", "evil.x:443", "evil\u{3002}x"]),
        rest in any_respelling(vec!["secret", "key"]),
        end in prop::sample::select(vec!["", "?", "#part"]),
    ) {
        let text = format!("{scheme}{user}{host}{rest}{end}");
        for ready in POLICIES_DENYING_ADDRESSES.iter() {
            prop_assert_eq!(ready.decide(json!(text), ResolvedPaths::Elsewhere), RuleEffect::Deny, "{:?} and {:?}", ready.0, text);
        }
    }

    #[test]
    fn allowed_address_is_within_the_rule(
        host in any_host_spelling(),
        parts in prop::collection::vec(any_ambiguous_component(), 0..5),
        begins in any::<bool>(),
    ) {
        let text = format!("https://{host}{}/{}", if begins { "/public" } else { "" }, parts.join("/"));
        for ready in POLICIES_ALLOWING_ADDRESSES.iter() {
            let is_open = matches!(&ready.0, ArgumentPattern::Glob(glob) if glob == "https://api.x*");
            if ready.decide(json!(text), ResolvedPaths::Elsewhere) == RuleEffect::Allow {
                let url = Url::parse(&text).unwrap();
                let host = url.host_str().unwrap().trim_end_matches('.').to_owned();
                prop_assert_eq!((url.scheme(), host.as_str(), url.port()), ("https", "api.x", None), "{}", text);
                prop_assert!(url.username().is_empty() && url.password().is_none(), "{}", text);
                prop_assert!(is_open || is_below_public(url.path()), "{} is allowed", text);
            }
        }
    }
}
