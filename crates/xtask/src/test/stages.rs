//! Defines which test parts run in parallel. Used by `mod.rs`.
//!
//! The build uses all cores for minutes, so no test runs in parallel with it. The other long parts wait for a third of
//! their time or more, so parts that use a single core run in parallel with them. The measurements of frame rates run
//! alone.

use super::parts::TestPart;

/// Group of test parts that run at the same time. Each lane is a list of parts that run one after the other, and the
/// lanes run in parallel.
pub(super) struct TestStage {
    pub(super) lanes: Vec<Vec<TestPart>>,
}

/// Stages in the order in which they run, each with its lanes of test parts. Clippy builds everything. The window's
/// tests are sensitive to a busy machine, so only the counting of instructions, which uses one core, runs in parallel
/// with them.
const TEST_STAGES: &[&[&[TestPart]]] = &[
    &[&[TestPart::Clippy, TestPart::Deny], &[TestPart::Tidy, TestPart::Fmt]],
    &[&[TestPart::Unit], &[TestPart::Ui]],
    &[&[TestPart::Page], &[TestPart::Fuzz, TestPart::Interop, TestPart::Models, TestPart::Conformance]],
    &[&[TestPart::Desktop], &[TestPart::Guard]],
    &[&[TestPart::Frames]],
];

/// Returns the stages that contain these parts, without empty lanes.
pub(super) fn stages_with_parts(parts: &[TestPart]) -> Vec<TestStage> {
    let lane = |lane: &&[TestPart]| lane.iter().copied().filter(|part| parts.contains(part)).collect::<Vec<_>>();
    let stage =
        |stage: &&[&[TestPart]]| TestStage { lanes: stage.iter().map(lane).filter(|lane| !lane.is_empty()).collect() };
    TEST_STAGES.iter().map(stage).filter(|stage| !stage.lanes.is_empty()).collect()
}

#[cfg(test)]
mod tests {
    use clap::ValueEnum as _;

    use super::*;

    #[test]
    fn every_test_part_is_in_exactly_one_stage() {
        for part in TestPart::value_variants() {
            let stages = TEST_STAGES.iter().flat_map(|stage| stage.iter()).flat_map(|lane| lane.iter());
            assert_eq!(stages.filter(|other| *other == part).count(), 1, "{} should run once", part.name());
        }
    }

    #[test]
    fn selected_parts_keep_their_order() {
        let stages = stages_with_parts(&[TestPart::Frames, TestPart::Guard, TestPart::Unit]);
        let lanes: Vec<_> = stages.into_iter().map(|stage| stage.lanes).collect();
        assert_eq!(lanes, [vec![vec![TestPart::Unit]], vec![vec![TestPart::Guard]], vec![vec![TestPart::Frames]]]);
    }
}
