//! A catalog on registries that are served on this computer: ordinary, slow, broken and hostile ones.
#![allow(clippy::unwrap_used)]

mod answers;
mod changes;
mod downloads;
mod failures;
mod hostile;
mod kept;
mod stored;
