//! Tests of the audit log: entries are read back, stay in the chain, and every change of the file is detected.

mod attacks;
mod encrypted;
mod log;
mod older;
mod retention;
pub(crate) mod support;
mod tampering;
mod unsealed;
