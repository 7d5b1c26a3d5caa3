//! What is worth a second look.

use offers::review::{Diff as HostDiff, FlagReason as HostReason, Marks as HostMarks};

use crate::data::*;

pub(in crate::handler) fn marks(marks: HostMarks) -> Marks {
    let flags = marks.flags.into_iter().map(|flag| Flag {
        place: flag.place,
        reason: reason(flag.reason),
        excerpt: flag.excerpt,
    });
    let look_alikes = marks.look_alikes.into_iter().map(|alike| LookAlike {
        server: alike.server,
        name: alike.name,
        same: alike.same,
    });
    Marks {
        review: marks.standing,
        outdated: marks.outdated,
        diff: marks.diff.map(|diff| self::diff(*diff)),
        look_alikes: look_alikes.collect(),
        flags: flags.collect(),
    }
}

fn diff(diff: HostDiff) -> Diff {
    let changes =
        diff.changes.into_iter().map(|change| Change { path: change.path, before: change.before, after: change.after });
    Diff {
        changes: changes.collect(),
        more: u32::try_from(diff.more).unwrap_or(u32::MAX),
        server_changed: diff.server_changed,
        cut: diff.cut,
        before: diff.before,
    }
}

const fn reason(reason: HostReason) -> FlagReason {
    match reason {
        HostReason::HiddenCharacters => FlagReason::HiddenCharacters,
        HostReason::InstructsModel => FlagReason::InstructsModel,
        HostReason::HidesFromUser => FlagReason::HidesFromUser,
        HostReason::SecretPlace => FlagReason::SecretPlace,
        HostReason::OtherTool => FlagReason::OtherTool,
        HostReason::AsksForContext => FlagReason::AsksForContext,
        HostReason::PraisesItself => FlagReason::PraisesItself,
        HostReason::DeceptiveLetters => FlagReason::DeceptiveLetters,
        HostReason::MisleadingLink => FlagReason::MisleadingLink,
        HostReason::TooLong => FlagReason::TooLong,
    }
}
