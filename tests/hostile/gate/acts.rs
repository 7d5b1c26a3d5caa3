//! Random actions and decisions. Used by `gate.rs` and `bench.rs`, which executes them.

use proptest::prelude::*;

/// A random action of the test.
#[derive(Debug, Clone)]
pub(super) enum Act {
    /// The server is made to send a request.
    Trigger(u8),
    /// The user calls a tool.
    Call(u8),
    Read,
    /// A model would read the result of a call.
    Result(u8),
    /// A queued consent request is decided. Both numbers select among the available ones.
    Answer(u8, Way),
    RepeatLastAnswer,
    Revoke,
    Rule(u8),
    DenyAll,
    Stop,
    Start,
    StartFar,
    StopFar,
    /// The remote server requires another sign-in.
    EndTokens,
}

/// Decision on a consent request.
#[derive(Debug, Clone, Copy)]
pub(super) enum Way {
    Allow,
    AllowFor,
    AllowAlways,
    Deny,
    DenyBecause,
    Cancel,
    Edit,
    OtherModel,
    ByHand,
    Again,
    Back,
    StopModel,
    Submit,
    SubmitNothing,
    Share,
    Client,
    Stale,
}

pub(super) const WAYS: &[Way] = &[
    Way::Allow,
    Way::Allow,
    Way::Allow,
    Way::AllowFor,
    Way::AllowAlways,
    Way::Deny,
    Way::DenyBecause,
    Way::Cancel,
    Way::Edit,
    Way::OtherModel,
    Way::ByHand,
    Way::ByHand,
    Way::Again,
    Way::Again,
    Way::Back,
    Way::StopModel,
    Way::Submit,
    Way::SubmitNothing,
    Way::Share,
    Way::Client,
    Way::Stale,
];

pub(super) fn act() -> impl Strategy<Value = Act> {
    let answer = || (any::<u8>(), prop::sample::select(WAYS)).prop_map(|(which, way)| Act::Answer(which, way));
    prop_oneof![
        3 => Just(Act::Trigger(0)),
        3 => (1_u8..4).prop_map(Act::Trigger),
        3 => any::<u8>().prop_map(Act::Call),
        1 => Just(Act::Read),
        2 => any::<u8>().prop_map(Act::Result),
        16 => answer(),
        2 => Just(Act::RepeatLastAnswer),
        1 => Just(Act::Revoke),
        1 => (0_u8..3).prop_map(Act::Rule),
        1 => Just(Act::DenyAll),
        1 => Just(Act::Stop),
        2 => Just(Act::Start),
        2 => Just(Act::StartFar),
        1 => Just(Act::StopFar),
        1 => Just(Act::EndTokens),
    ]
}
