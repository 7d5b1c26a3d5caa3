//! Tests of a catalog with registries served on this computer: ordinary, slow, broken and hostile ones.

mod answers;
mod cache;
mod changes;
mod downloads;
mod failures;
mod hostile;
mod test_catalog;
