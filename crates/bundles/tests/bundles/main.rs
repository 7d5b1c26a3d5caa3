//! Tests with bundles written byte by byte where the official packer would not produce them: opening, planning,
//! unpacking, comparing and refusing.
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod hostile;
mod manifests;
mod names;
mod plans;
mod random;
mod sample;
mod signatures;
#[cfg(unix)]
mod unpacking;
mod zip_writer;
