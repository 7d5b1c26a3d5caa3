//! The policy: what is standing and what is about to happen go in, a decision comes out.
//!
//! Pure and synchronous: no I/O, no clock, no waiting. What a server says about itself (annotations, descriptions, names) is
//! no input here except as bytes of a hash, so it can only ever void a grant, never earn one.

mod act;
mod grants;
mod hash;

pub use act::{Act, Decision, Rule, Scope};
pub use grants::{Grant, GrantId, Grants, Subject, TooManyGrants};
pub use hash::{Hash, HashBegun, canonical_json, canonical_object};

/// Grants and mutes, and the decisions that follow from them.
#[derive(Debug, Clone, Default)]
pub struct Policy {
    grants: Grants,
    muted: std::collections::BTreeSet<String>,
}

impl Policy {
    /// A policy with these standing grants.
    #[must_use]
    pub fn new(grants: Grants) -> Self {
        Self { grants, muted: std::collections::BTreeSet::new() }
    }

    /// Decides about an act. A refusal beats a question, and a question beats a grant that does not fit exactly.
    #[must_use]
    pub fn decide(&self, act: &Act<'_>) -> Decision {
        if act.asked_by_server() && self.muted.contains(act.server()) {
            return Decision::Deny { rule: Rule::Muted };
        }
        match act {
            Act::StartServer { server, command } => match self.grants.find(server, &Subject::Command) {
                Some(grant) if grant.rests_on == **command => Decision::Allow { by: Some(grant.id) },
                Some(_) => Decision::Ask { rule: Rule::CommandChanged, scopes: &[Scope::Once, Scope::Always] },
                None => Decision::Ask { rule: Rule::NewCommand, scopes: &[Scope::Once, Scope::Always] },
            },
            Act::ConnectServer { server, address } => match self.grants.find(server, &Subject::Command) {
                Some(grant) if grant.rests_on == **address => Decision::Allow { by: Some(grant.id) },
                Some(_) => Decision::Ask { rule: Rule::AddressChanged, scopes: &[Scope::Once, Scope::Always] },
                None => Decision::Ask { rule: Rule::NewAddress, scopes: &[Scope::Once, Scope::Always] },
            },
            Act::CallTool { server, tool, definition } => {
                const SCOPES: &[Scope] = &[Scope::Once, Scope::Session, Scope::Always];
                match self.grants.find_tool(server, tool) {
                    Some(grant) if grant.rests_on == **definition => Decision::Allow { by: Some(grant.id) },
                    Some(_) => Decision::Ask { rule: Rule::ToolChanged, scopes: SCOPES },
                    None => Decision::Ask { rule: Rule::ToolsAsk, scopes: SCOPES },
                }
            }
            Act::Sample { .. } => Decision::Ask { rule: Rule::SamplingAsks, scopes: &[Scope::Once] },
            Act::FillForm { .. } => Decision::Ask { rule: Rule::FormsAsk, scopes: &[Scope::Once] },
            Act::OpenUrl { .. } => Decision::Ask { rule: Rule::UrlsAsk, scopes: &[Scope::Once] },
            Act::ShareRoots { decided: true, .. } => Decision::Allow { by: None },
            Act::ShareRoots { decided: false, .. } => Decision::Ask { rule: Rule::RootsAsk, scopes: &[Scope::Always] },
            Act::SignIn { .. } => Decision::Ask { rule: Rule::SignInAsks, scopes: &[Scope::Once] },
            Act::ReadAtUsersWish { .. } => Decision::Allow { by: None },
        }
    }

    /// Refuses, from now on, what this server asks for of its own.
    pub fn mute(&mut self, server: &str) {
        self.muted.insert(server.to_owned());
    }

    /// Lets this server ask again.
    pub fn unmute(&mut self, server: &str) {
        self.muted.remove(server);
    }

    /// Whether what this server asks for is refused unseen.
    #[must_use]
    pub fn is_muted(&self, server: &str) -> bool {
        self.muted.contains(server)
    }

    /// The standing grants.
    #[must_use]
    pub const fn grants(&self) -> &Grants {
        &self.grants
    }

    /// The standing grants, to change.
    pub const fn grants_mut(&mut self) -> &mut Grants {
        &mut self.grants
    }

    /// Forgets all that rests on a server's name, when it is removed or takes another name.
    pub fn forget_server(&mut self, server: &str) {
        self.muted.remove(server);
        self.grants.remove_server(server);
    }
}
