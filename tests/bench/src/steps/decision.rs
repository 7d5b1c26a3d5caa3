//! Decisions of the policy where much stands: 490 rules about other servers and ten about the folders of this one.

use std::hint::black_box;

use bench::drawbridge::Outcome;
use policy::{
    Act, ArgumentIs, ArgumentRule, Claims, Direction, Effect, Grant, GrantId, Grants, Hash, PathFacts, Policy,
    PolicyFile, PolicyRule, RuleScope, Scope, Standing, Subject,
};
use serde_json::{Map, Value, json};

const OTHER_RULES: usize = 490;
const OWN_RULES: usize = 10;
const SERVER: &str = "server 7";
const TOOL: &str = "tool 7";

/// Decides about one call so many times.
pub(crate) fn decide(count: usize) -> Outcome<()> {
    let definition = Hash::of(&json!("definition"));
    let arguments = Map::from_iter([("path".to_owned(), Value::from("/home/ann/notes.txt"))]);
    let act = Act::CallTool {
        server: SERVER,
        tool: TOOL,
        definition: &definition,
        standing: Standing::Reviewed,
        claims: Claims::default(),
        arguments: &arguments,
        paths: &PathFacts::Elsewhere,
        after_untrusted: false,
        conversation: None,
    };
    let policy = policy(&definition)?;
    for now in 0..count {
        black_box(policy.decide(black_box(&act), u64::try_from(now)?));
    }
    Ok(())
}

fn policy(definition: &Hash) -> Outcome<Policy> {
    let mut grants = Grants::default();
    let grant = Grant {
        id: GrantId::default(),
        server: SERVER.to_owned(),
        subject: Subject::Tool(TOOL.to_owned()),
        rests_on: definition.clone(),
        scope: Scope::Always,
        conversation: None,
        since: 0,
        expires_at: None,
        words: String::new(),
    };
    grants.add(grant).map_err(|_| "too many grants")?;
    let others = (0..OTHER_RULES).map(|other| deny(format!("another {other}"), "/etc".to_owned()));
    let own = (0..OWN_RULES).map(|folder| deny(SERVER.to_owned(), format!("/srv/{folder}")));
    let mut policy = Policy::new(grants);
    let file = PolicyFile { rules: others.chain(own).collect(), ..PolicyFile::default() };
    policy.set_user(file).map_err(|_| "the rules can't be compiled")?;
    Ok(policy)
}

fn deny(server: String, folder: String) -> PolicyRule {
    PolicyRule {
        id: 0,
        effect: Effect::Deny,
        server,
        tool: None,
        direction: Direction::ToServer,
        arguments: vec![ArgumentRule { at: "/path".to_owned(), is: ArgumentIs::Folder(folder) }],
        annotations: None,
        sampling: None,
        scope: RuleScope::Always,
        expires_at: None,
        note: String::new(),
        trusted_server: false,
        identity: None,
        after_untrusted: false,
    }
}
