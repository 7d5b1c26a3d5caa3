//! Conversion of review states and findings.

use offers::review::Marks as HostMarks;

use crate::data::*;

pub(in crate::handler) fn marks(marks: HostMarks) -> Marks {
    let HostMarks { standing, outdated, diff, look_alikes, flags } = marks;
    Marks { review: standing, outdated, diff: diff.map(|diff| *diff), look_alikes, flags }
}
