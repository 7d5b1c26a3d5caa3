//! Measures the cost of one decision with many rules and grants: `cargo run --profile profiling -p policy --example
//! cost`.
#![allow(clippy::print_stdout, clippy::unwrap_used, reason = "a program for a terminal")]

use std::hint::black_box;
use std::time::Instant;

use policy::{
    ApprovalScope, ArgumentPattern, ArgumentRule, Grant, GrantId, GrantSubject, Grants, Hash, Policy, PolicyAct,
    PolicyFile, PolicyRule, ResolvedPaths, ReviewState, RuleEffect, ToolClaims,
};
use serde_json::json;

const ROUNDS: u32 = 200_000;

fn main() {
    let grant_hash = Hash::of_json(&json!("definition"));
    let arguments = json!({"path": "/home/ann/notes.txt", "text": "hello"});
    let act = PolicyAct::CallTool {
        server: "server 7",
        tool: "tool 7",
        grant_hash: &grant_hash,
        review_state: ReviewState::Reviewed,
        claims: ToolClaims::default(),
        asks_each_time: false,
        arguments: arguments.as_object().unwrap(),
        paths: &ResolvedPaths::Elsewhere,
        after_untrusted: false,
        conversation: Some("conversation"),
    };
    for (what, grants, rules) in
        [("one approval", 0, 0), ("5,000 approvals", 4_999, 0), ("5,000 approvals and 500 rules", 4_999, 490)]
    {
        let policy = policy_with_many_rules(&grant_hash, grants, rules);
        let start = Instant::now();
        for now in 0..u64::from(ROUNDS) {
            black_box(policy.decide(black_box(&act), now));
        }
        println!("{what}: {} ns for each decision", (start.elapsed() / ROUNDS).as_nanos());
    }
}

/// Creates a policy with a grant for the measured call, `others` more grants, `rules` rules about other servers, and
/// ten rules about folders in calls of this server.
fn policy_with_many_rules(grant_hash: &Hash, others: usize, rules: usize) -> Policy {
    let mut grants = Grants::default();
    let names = (0..others).map(|i| (format!("server {}", i % 50), format!("other {i}")));
    for (server, tool) in names.chain([("server 7".to_owned(), "tool 7".to_owned())]) {
        let grant = Grant {
            id: GrantId::default(),
            server,
            subject: GrantSubject::Tool(tool),
            rests_on: grant_hash.clone(),
            scope: ApprovalScope::Always,
            conversation: None,
            since: 0,
            expires_at: None,
            words: String::new(),
            last_use: None,
        };
        grants.add(grant).unwrap();
    }
    let deny = |server: String, folder: String| PolicyRule {
        arguments: vec![ArgumentRule { at: "/path".to_owned(), is: ArgumentPattern::Folder(folder) }],
        ..PolicyRule::new(RuleEffect::Deny, server)
    };
    let own = if rules == 0 { 0 } else { 10 };
    let rules = (0..rules)
        .map(|i| deny(format!("another {i}"), "/etc".to_owned()))
        .chain((0..own).map(|i| deny("server 7".to_owned(), format!("/srv/{i}"))))
        .collect();
    let mut policy = Policy::new(grants);
    policy.set_user_rules(PolicyFile { rules, ..PolicyFile::default() }).unwrap();
    policy
}
