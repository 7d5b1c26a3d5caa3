//! The audit log: what is written comes back, stays in its chain, and whoever changes anything is found.

mod attacks;
mod encrypted;
mod log;
mod older;
mod retention;
pub(crate) mod support;
mod tampering;
mod unsealed;
