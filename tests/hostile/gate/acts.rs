//! Random actions and decisions. Generated in `gate.rs` and executed in `bench.rs`.

use proptest::prelude::*;

/// Random action in a sequence that tests the gate.
#[derive(Debug, Clone)]
pub(super) enum TestAction {
    /// Makes the server send a request of this kind to the host.
    Trigger(u8),
    /// Calls the server's tool as the user. The number selects the arguments.
    Call(u8),
    Read,
    /// Makes a model ask to read the result of a call. The number selects the text of the result.
    Result(u8),
    /// Decides on a pending consent request. The number selects the request.
    Answer(u8, TestDecision),
    RepeatLastAnswer,
    Revoke,
    Rule(u8),
    DenyAll,
    Stop,
    Start,
    StartFar,
    StopFar,
    /// Makes the remote server require another sign-in.
    EndTokens,
}

/// Kind of decision on a consent request in a random sequence.
#[derive(Debug, Clone, Copy)]
pub(super) enum TestDecision {
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

pub(super) const ALL_DECISIONS: &[TestDecision] = &[
    TestDecision::Allow,
    TestDecision::Allow,
    TestDecision::Allow,
    TestDecision::AllowFor,
    TestDecision::AllowAlways,
    TestDecision::Deny,
    TestDecision::DenyBecause,
    TestDecision::Cancel,
    TestDecision::Edit,
    TestDecision::OtherModel,
    TestDecision::ByHand,
    TestDecision::ByHand,
    TestDecision::Again,
    TestDecision::Again,
    TestDecision::Back,
    TestDecision::StopModel,
    TestDecision::Submit,
    TestDecision::SubmitNothing,
    TestDecision::Share,
    TestDecision::Client,
    TestDecision::Stale,
];

pub(super) fn action_strategy() -> impl Strategy<Value = TestAction> {
    let answer =
        || (any::<u8>(), prop::sample::select(ALL_DECISIONS)).prop_map(|(which, way)| TestAction::Answer(which, way));
    prop_oneof![
        3 => Just(TestAction::Trigger(0)),
        3 => (1_u8..4).prop_map(TestAction::Trigger),
        3 => any::<u8>().prop_map(TestAction::Call),
        1 => Just(TestAction::Read),
        2 => any::<u8>().prop_map(TestAction::Result),
        16 => answer(),
        2 => Just(TestAction::RepeatLastAnswer),
        1 => Just(TestAction::Revoke),
        1 => (0_u8..3).prop_map(TestAction::Rule),
        1 => Just(TestAction::DenyAll),
        1 => Just(TestAction::Stop),
        2 => Just(TestAction::Start),
        2 => Just(TestAction::StartFar),
        1 => Just(TestAction::StopFar),
        1 => Just(TestAction::EndTokens),
    ]
}
