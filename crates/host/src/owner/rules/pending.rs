//! PendingRequest consent requests, decided again with the rules as they are now. Callers: `rules.rs` after each change, and `answers.rs`
//! and `gate.rs` before an answer acts.

use std::collections::BTreeSet;

use domain::question::QuestionId;
use offers::definitions::claims_of;
use policy::{Act, By, Decision, SamplingUse, Standing};

use crate::owner::Owner;
use crate::owner::state::PendingRequest;
use crate::view::QuestionBody;

impl Owner {
    /// Refuses a question that a rule denies now, unless it was answered and what it is about has left. To refuse one may have
    /// ended others.
    pub(super) fn refuse_if_denied(&mut self, id: QuestionId) {
        let at = self.consent.pending.iter().position(|pending| pending.view.id == id && pending.can_be_refused());
        if let Some((at, by)) = at.and_then(|at| Some((at, self.denied_now(at)?))) {
            self.refuse_by_rule(at, by);
        }
    }

    /// What denies a question as it is now: rules may have changed since it was asked, and so may what would cross.
    pub(in crate::owner) fn denied_now(&self, at: usize) -> Option<By> {
        match self.decide_again(self.consent.pending.get(at)?) {
            Decision::Deny { by, .. } => Some(by),
            _ => None,
        }
    }

    fn decide_again(&self, pending: &PendingRequest) -> Decision {
        let (server, hash) = (pending.view.server.as_str(), &pending.view.hash);
        let conversation = self.calls.conversation_of(&pending.view.why);
        let act = match &pending.view.body {
            QuestionBody::StartServer { .. } => Act::StartServer { server, command: hash },
            QuestionBody::ConnectServer { .. } => Act::ConnectServer { server, address: hash },
            QuestionBody::Tool { tool, arguments, .. } => Act::CallTool {
                server,
                tool: &tool.name,
                // What denies does not rest on these.
                definition: hash,
                standing: Standing::New,
                after_untrusted: false,
                claims: claims_of(tool),
                arguments,
                paths: &pending.paths,
                conversation: conversation.as_deref(),
            },
            QuestionBody::Read { .. } | QuestionBody::Result { .. } => {
                Act::ReadAtUsersWish { server, conversation: conversation.as_deref() }
            }
            QuestionBody::Sampling { .. } => Act::Sample { server, would_use: SamplingUse::default() },
            QuestionBody::Form { .. } => Act::FillForm { server },
            QuestionBody::Url { .. } => Act::OpenUrl { server },
            QuestionBody::Roots => Act::ShareRoots { server, decided: false },
            QuestionBody::SignIn { .. } | QuestionBody::ClientId { .. } => Act::SignIn { server, steps_up: false },
        };
        self.permissions.policy.decide(&act, self.now())
    }

    /// The paths in a question about a call that rules ask about.
    pub(in crate::owner) fn paths_in_question(&self, pending: &PendingRequest) -> BTreeSet<String> {
        match &pending.view.body {
            QuestionBody::Tool { tool, arguments, .. } => {
                self.paths_in_call(&pending.view.server, &tool.name, arguments)
            }
            _ => BTreeSet::new(),
        }
    }
}
