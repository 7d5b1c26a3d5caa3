//! Rule against duplicate type definitions: types in different crates must not have the same names of fields or
//! variants.

use std::collections::{BTreeMap, BTreeSet};

use super::Finding;
use super::source_tree::{SourceFile, SourceTree};

/// Minimum number of fields or variants of a type that the rule compares. Smaller types are often equal by coincidence.
const MIN_COMPARED_MEMBERS: usize = 3;

/// Path of this file. If a tree contains it, the tree is the whole repository, and unused exceptions are reported.
const EQUAL_FIELDS_RULE_PATH: &str = "crates/xtask/src/tidy/equal_fields.rs";

/// Groups of types in different crates that may have the same fields, each with the reason.
const EQUAL_TYPE_EXCEPTIONS: [(&[&str], &str); 39] = [
    (
        &["app-views::AppFrameResponse", "mcp-auth::LoggedHttpResponse"],
        "one is the response that a frame gets, the other a response that a sign-in received",
    ),
    (
        &["app-views::AppPageReview", "offers::AppReviewState"],
        "the page gets the grants next to the state, also those that a new approval would give",
    ),
    (
        &["api::AuditEntry", "ports::AuditEntry", "store::HashedLogEntry"],
        "the log's file leaves out what is empty, its lines are hashed byte for byte, and the page and scripts have every member",
    ),
    (
        &["api::CompleteArgument", "cli::CompleteArguments"],
        "one is a request of the page, the other the arguments of a command line",
    ),
    (
        &["cli::InstallLinkApp", "other-apps::LinkTarget"],
        "one has the names of the command line, from the other a link is written",
    ),
    (
        &["bundles::Platform", "other-apps::OperatingSystem", "src-tauri::MenuConventions"],
        "manifests name three systems; folders of other apps may differ further, such as those of Flatpak, and so may menus",
    ),
    (
        &["api::InstallDraft", "installer::InstallDraft"],
        "a request of the page: the hosts of its sandbox are text until they are checked",
    ),
    (
        &["api::RegistryStatus", "registry::ListingStatus"],
        "a registry may answer any word; the page gets those that exist",
    ),
    (
        &["api::SandboxOffer", "host-state::SandboxOffer"],
        "the page gets the paths of the plan as text, and errors as sentences",
    ),
    (
        &["api::LaunchFileWriteAccess", "host-state::LaunchFileWriter"],
        "a path that is not UTF-8 can't be JSON; the page gets it as text",
    ),
    (&["api::SearchHistory", "domain::HistorySearch"], "a request of the page: the handler bounds its limit"),
    (
        &["api::SetProvider", "models::ProviderSettings"],
        "a request of the page: its address and choices are text until they are checked",
    ),
    (
        &["api::ConsentRequest", "host-state::ConsentRequestView"],
        "the page's ids and hashes are text, its path and body are what is drawn",
    ),
    (
        &["api::ConsentRequestBody", "host-state::ConsentRequestBody"],
        "the page gets what is drawn, without secrets; the host keeps what is sent",
    ),
    (
        &["api::ConsentRequestEdit", "host-state::ConsentRequestEdit"],
        "the page changes what it was shown; the host takes the whole request",
    ),
    (&["api::Policy", "host-state::RulesView"], "the page's rules have their source and an id as text"),
    (&["api::RuleFile", "host-state::RuleFile"], "a path that is not UTF-8 can't be JSON; the page gets it as text"),
    (
        &["api::SamplingTool", "models::ModelTool"],
        "what a server sends to be shown, and what a provider's wire carries",
    ),
    (
        &["api::ServerState", "host-state::ServerState"],
        "a path that is not UTF-8 can't be JSON; the page gets it as text",
    ),
    (
        &["api::Settings", "host-state::AppSettings"],
        "the file may hold any word as theme, language and what closing does; the page gets those that exist",
    ),
    (
        &["chat::StreamedPartKind", "domain::ReplyPart", "models::PartialReplyPart"],
        "a mark, an item of the history, and a state while a wire is read",
    ),
    (&["cli::SameServerFlowName", "domain::SameServerFlow"], "the names of a command line's values are its own"),
    (
        &["credentials::AccountView", "mcp-auth::SignedInAccount"],
        "mcp-auth does not depend on the app, and its account has other times and tokens",
    ),
    (
        &["api::ClientIdentity", "credentials::ClientIdentity"],
        "the serialized form of one is part of a consent request's hash",
    ),
    (
        &["credentials::SignInEndpoint", "mcp-auth::AuthEndpoint"],
        "mcp-auth knows nothing of the app; the serialized form of the other is part of a consent request's hash",
    ),
    (
        &["api::EndpointUse", "credentials::EndpointUse", "mcp-auth::EndpointUse"],
        "mcp-auth knows nothing of the app; the serialized form of the host's is part of a consent request's hash",
    ),
    (&["api::SignInProgress", "credentials::SignInProgress"], "each holds the reason of a sign-in, which stays apart"),
    (
        &["api::SignInReason", "credentials::SignInReason"],
        "the serialized form of one is part of a consent request's hash",
    ),
    (
        &["mcp-auth::GrantKind", "ports::GrantType"],
        "mcp-auth knows nothing of the app; the other is what `mcp.json` names",
    ),
    (&["api::ListName", "mcp-proto::ListKind"], "wire types are not the page's types"),
    (&["domain::TaskStatus", "mcp-proto::TaskStatus"], "wire types are not the page's types"),
    (
        &["mcp-auth::LoggedHttpRequest", "mcp-transport::HttpRequestParts"],
        "one request is redacted and shown to the user, the other is sent",
    ),
    (&["api::ResourceResult", "offers::ResourceReadResult"], "one holds wire types, which are not the page's types"),
    (
        &["api::UnknownPackageReason", "launches::UnknownPackage"],
        "the page has other names for the reasons, and a separate detail",
    ),
    (
        &["api::ClaimRule", "policy::ToolClaims"],
        "the policy's claims have the specification's defaults; a rule's condition may be absent",
    ),
    (
        &["api::DecisionSource", "policy::DecisionSource"],
        "the page's ids are text, as its numbers are exact up to 2^53 only",
    ),
    (
        &["api::ModelChoiceReason", "server-requests::ModelChoiceReason"],
        "the page's variants have named members, as tagged JSON needs them",
    ),
    (
        &["api::SamplingRunState", "server-requests::ModelAnswerState"],
        "the page gets the tokens that it shows and not the whole use",
    ),
    (
        &["api::SamplingLimits", "api::SamplingUsage", "server-requests::Budget"],
        "the file leaves out what is not set; what was spent has no member unset",
    ),
];

/// A struct with named fields, or an enum, whose member names the rule compares with those of other types.
#[derive(Debug)]
struct ComparedType<'a> {
    /// Crate and name of the type, in the form `crate::Type`.
    name: String,
    path: &'a str,
    line: usize,
}

/// Keyword `struct` or `enum`, and the names of the fields or variants.
type KindAndMemberNames = (String, BTreeSet<String>);

pub(super) fn find_duplicate_types(tree: &SourceTree) -> Vec<Finding> {
    let mut by_members: BTreeMap<KindAndMemberNames, Vec<ComparedType<'_>>> = BTreeMap::new();
    for file in tree.rust_files().filter(|file| is_compiled_into_app(file)) {
        for (members, shape) in compared_types(file) {
            if members.1.len() >= MIN_COMPARED_MEMBERS {
                by_members.entry(members).or_default().push(shape);
            }
        }
    }
    let mut findings = Vec::new();
    let mut used = BTreeSet::new();
    for mut shapes in by_members.into_values() {
        shapes.sort_by(|one, other| one.name.cmp(&other.name));
        let crates: BTreeSet<&str> = shapes.iter().filter_map(|shape| Some(shape.name.split_once("::")?.0)).collect();
        if crates.len() < 2 {
            continue;
        }
        let is_listed = |(names, _): &(&[&str], &str)| shapes.iter().all(|shape| names.contains(&shape.name.as_str()));
        if let Some(at) = EQUAL_TYPE_EXCEPTIONS.iter().position(is_listed) {
            used.insert(at);
            continue;
        }
        let names: Vec<&str> = shapes.iter().map(|shape| shape.name.as_str()).collect();
        let text = format!(
            "{} have the same fields: use one type, or list them in {EQUAL_FIELDS_RULE_PATH} with a reason",
            names.join(", ")
        );
        findings.push(Finding::new(shapes[0].path, shapes[0].line, text));
    }
    if tree.rust_files().any(|file| file.path == EQUAL_FIELDS_RULE_PATH) {
        let unused = EQUAL_TYPE_EXCEPTIONS.iter().enumerate().filter(|(at, _)| !used.contains(at));
        findings.extend(unused.map(|(_, (names, _))| {
            Finding::new(
                EQUAL_FIELDS_RULE_PATH,
                0,
                format!("{} do not have the same fields: the exception can go", names.join(", ")),
            )
        }));
    }
    findings
}

/// Returns `true` if a file is compiled into the app, not only into its tests and tools.
fn is_compiled_into_app(file: &SourceFile) -> bool {
    (file.path.starts_with("crates/") || file.path.starts_with("src-tauri/"))
        && file.path.contains("/src/")
        && !file.path.starts_with("crates/testkit/")
        && !file.is_test()
}

fn crate_name(path: &str) -> &str {
    path.strip_prefix("crates/").unwrap_or(path).split('/').next().unwrap_or_default()
}

/// Returns the structs and enums with a body in braces that a file defines.
fn compared_types(file: &SourceFile) -> Vec<(KindAndMemberNames, ComparedType<'_>)> {
    let lines = file.lines_without_comments_and_tests();
    let mut found = Vec::new();
    for (at, (number, line)) in lines.iter().enumerate() {
        let mut words = without_visibility(line.trim()).split_whitespace();
        let Some(kind @ ("struct" | "enum")) = words.next() else { continue };
        let Some(name) = words.next() else { continue };
        let name = name.split(|c: char| !c.is_alphanumeric() && c != '_').next().unwrap_or_default();
        let rest: String = lines[at..].iter().flat_map(|(_, line)| [line.as_str(), "\n"]).collect();
        let Some(body) = rest.split_once(name).and_then(|(_, after)| braced_item_body(after)) else { continue };
        let name = format!("{}::{name}", crate_name(&file.path));
        found.push(((kind.to_owned(), member_names(body)), ComparedType { name, path: &file.path, line: *number }));
    }
    found
}

/// Returns an item's text without a leading `pub` or `pub(...)`.
fn without_visibility(item: &str) -> &str {
    let Some(rest) = item.strip_prefix("pub") else { return item };
    let rest = match rest.strip_prefix('(') {
        Some(inner) => inner.split_once(')').map_or("", |(_, after)| after),
        None if rest.starts_with(char::is_whitespace) => rest,
        None => return item,
    };
    rest.trim_start()
}

/// Returns the text between the braces of an item, given the text after its name, or `None` if it has no braces.
fn braced_item_body(text: &str) -> Option<&str> {
    let begin = text.find(['{', ';', '('])?;
    if !text[begin..].starts_with('{') {
        return None;
    }
    let mut depth = 0;
    for (at, character) in text[begin..].char_indices() {
        match character {
            '{' => depth += 1,
            '}' if depth == 1 => return Some(&text[begin + 1..begin + at]),
            '}' => depth -= 1,
            _ => {}
        }
    }
    None
}

/// Returns the names of the fields or variants in the body of a type.
fn member_names(body: &str) -> BTreeSet<String> {
    split_members(body).into_iter().filter_map(member_name).collect()
}

/// Splits the body of a type at its top-level commas.
fn split_members(body: &str) -> Vec<&str> {
    let (mut items, mut depth, mut begin, mut previous) = (Vec::new(), 0_usize, 0, ' ');
    for (at, character) in body.char_indices() {
        match character {
            '(' | '[' | '{' | '<' => depth += 1,
            '>' if previous == '-' || previous == '=' => {}
            ')' | ']' | '}' | '>' => depth = depth.saturating_sub(1),
            ',' if depth == 0 => {
                items.push(&body[begin..at]);
                begin = at + 1;
            }
            _ => {}
        }
        previous = character;
    }
    items.push(&body[begin..]);
    items
}

/// Returns the name of the field or variant that `item` declares, skipping its attributes and visibility.
fn member_name(item: &str) -> Option<String> {
    let mut rest = item.trim();
    while let Some(attribute) = rest.strip_prefix("#[") {
        let mut depth = 1;
        let end = attribute.find(|character: char| {
            depth += match character {
                '[' => 1,
                ']' => -1,
                _ => 0,
            };
            depth == 0
        })?;
        rest = attribute[end + 1..].trim_start();
    }
    let rest = without_visibility(rest);
    let rest = rest.strip_prefix("r#").unwrap_or(rest);
    let name: String = rest.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
    (!name.is_empty()).then_some(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    const SOURCE_OF_OWNING_CRATE: &str = "/// A rule.\n#[derive(Debug)]\npub struct Rule {\n    /// Words, { even these.\n    \
                         #[serde(default, rename = \"x\")]\n    pub server: String,\n    pub(crate) tool: Option<Vec<(u8, u8)>>,\n    \
                         pub act: fn(u8, u8) -> u8,\n}\n";

    fn finding_texts(files: &[(&str, &str)]) -> Vec<String> {
        find_duplicate_types(&SourceTree::from_files(files)).into_iter().map(|finding| finding.to_string()).collect()
    }

    #[test]
    fn equal_fields_in_another_crate_are_reported() {
        let copy =
            "use a::b;\n\npub(crate) struct View<'a> {\n    act: u8,\n    r#server: &'a str,\n    tool: u8,\n}\n";
        let found = finding_texts(&[
            ("crates/policy/src/rule.rs", SOURCE_OF_OWNING_CRATE),
            ("crates/api/src/data/rules.rs", copy),
        ]);
        let [found] = &found[..] else { panic!("expected one finding: {found:?}") };
        assert!(
            found.starts_with("crates/api/src/data/rules.rs:3: api::View, policy::Rule have"),
            "the finding should have a place: {found}"
        );
    }

    #[test]
    fn equal_variants_are_reported() {
        let one = "pub enum State {\n    Whole,\n    Cut { at: u64, of: u64 },\n    Failed(String, u8),\n}\n";
        let other = "pub enum Outcome {\n    Failed,\n    Whole,\n    Cut,\n}\n";
        assert_eq!(finding_texts(&[("crates/a/src/lib.rs", one), ("src-tauri/src/main.rs", other)]).len(), 1);
    }

    #[test]
    fn types_with_different_members_are_accepted() {
        let fewer = "struct A {\n    server: u8,\n    tool: u8,\n}\nstruct Rule;\nstruct Tuple(u8, u8, u8);\n";
        let variants = "enum Rule {\n    server,\n    tool,\n    act,\n}\n";
        let tested = format!("#[cfg(test)]\nmod tests {{\n{SOURCE_OF_OWNING_CRATE}}}\n");
        let others = [
            ("crates/policy/src/rule.rs", SOURCE_OF_OWNING_CRATE),
            ("crates/policy/src/other.rs", SOURCE_OF_OWNING_CRATE),
            ("crates/a/src/lib.rs", fewer),
            ("crates/b/src/lib.rs", variants),
            ("crates/c/src/lib.rs", &tested),
            ("crates/d/tests/it.rs", SOURCE_OF_OWNING_CRATE),
            ("crates/testkit/src/lib.rs", SOURCE_OF_OWNING_CRATE),
        ];
        assert_eq!(
            finding_texts(&others),
            [""; 0],
            "another kind, fewer fields, the same crate and tests should be accepted"
        );
    }

    #[test]
    fn unused_equal_type_exception_is_reported() {
        let found = finding_texts(&[(EQUAL_FIELDS_RULE_PATH, "")]);
        assert_eq!(found.len(), EQUAL_TYPE_EXCEPTIONS.len(), "all equal types should be reported: {found:?}");
    }
}
