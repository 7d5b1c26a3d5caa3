//! Bundles that the tests write themselves, byte by byte where the official packer would not: opened, planned, unpacked, compared and refused.
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
