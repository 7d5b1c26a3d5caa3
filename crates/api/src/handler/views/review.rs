//! Conversion of review states, and of warnings about definitions, for the page.

use offers::review::ReviewFindings as HostMarks;

use crate::data::*;

pub(in crate::handler) fn review_marks_view(marks: HostMarks) -> ReviewMarks {
    let HostMarks { review_state, outdated, diff, look_alikes, flags } = marks;
    ReviewMarks { review: review_state, outdated, diff: diff.map(|diff| *diff), look_alikes, flags }
}
