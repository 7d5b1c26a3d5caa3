//! Defines which test parts run in parallel. Used by `mod.rs`.
//!
//! The build uses all cores for minutes, so only short checks run in parallel with it. The other long parts wait for a
//! third of their time or more. They run in parallel in one stage, so that a core is rarely idle, and a short lane does
//! not wait for a long one. The measurements of frame rates run alone.

use super::parts::TestPart;

/// Group of test parts that run at the same time, in parallel lanes.
pub(super) struct TestStage {
    pub(super) lanes: Vec<TestLane>,
}

/// Test parts that run one after the other.
pub(super) struct TestLane {
    pub(super) parts: Vec<TestPart>,
    /// Niceness of the lane's programs, from 0 to 19. Lanes whose tests follow a user through the page have the value
    /// 0, because a page that gets no processor time fails them. The other lanes use the time that is left.
    pub(super) niceness: u8,
}

/// Parts and niceness of each lane, in the order of the stages. Instructions are counted first, beside the lanes that
/// leave most processor time, because a step that is slowed down executes more of them.
const TEST_STAGES: &[&[(&[TestPart], u8)]] = &[
    &[(&[TestPart::Clippy, TestPart::Deny], 0), (&[TestPart::Tidy, TestPart::Fmt], 0)],
    &[
        (&[TestPart::Desktop, TestPart::Page], 0),
        (&[TestPart::Guard, TestPart::Fuzz, TestPart::Interop, TestPart::Models, TestPart::Conformance], 0),
        (&[TestPart::Ui, TestPart::Unit], 5),
    ],
    &[(&[TestPart::Frames], 0)],
];

/// Returns the stages that contain these parts, without empty lanes.
pub(super) fn stages_with_parts(parts: &[TestPart]) -> Vec<TestStage> {
    let lane = |(all, niceness): &(&[TestPart], u8)| TestLane {
        parts: all.iter().copied().filter(|part| parts.contains(part)).collect(),
        niceness: *niceness,
    };
    let stage = |lanes: &&[(&[TestPart], u8)]| TestStage {
        lanes: lanes.iter().map(lane).filter(|lane| !lane.parts.is_empty()).collect(),
    };
    TEST_STAGES.iter().map(stage).filter(|stage| !stage.lanes.is_empty()).collect()
}

#[cfg(test)]
mod tests {
    use clap::ValueEnum as _;

    use super::*;

    #[test]
    fn every_test_part_is_in_exactly_one_stage() {
        for part in TestPart::value_variants() {
            let stages = TEST_STAGES.iter().flat_map(|stage| stage.iter()).flat_map(|(parts, _)| parts.iter());
            assert_eq!(stages.filter(|other| *other == part).count(), 1, "{} should run once", part.name());
        }
    }

    #[test]
    fn selected_parts_keep_their_order() {
        let stages = stages_with_parts(&[TestPart::Frames, TestPart::Page, TestPart::Unit, TestPart::Desktop]);
        let lanes = |stage: TestStage| stage.lanes.into_iter().map(|lane| lane.parts).collect::<Vec<_>>();
        let stages: Vec<_> = stages.into_iter().map(lanes).collect();
        assert_eq!(
            stages,
            [vec![vec![TestPart::Desktop, TestPart::Page], vec![TestPart::Unit]], vec![vec![TestPart::Frames]]]
        );
    }
}
