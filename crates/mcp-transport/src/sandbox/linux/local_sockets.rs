//! A seccomp filter for what neither a file system nor a network of its own keeps a process from: sockets to other programs of the
//! same computer. Where Landlock holds a process and it may not use the network, no sockets at all, since Landlock knows only TCP.

use std::collections::BTreeMap;
use std::io;

use nix::libc;
use seccompiler::{
    BackendError, BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter,
    SeccompRule, TargetArch, apply_filter,
};

use super::refused;

/// The filter. Pairs of sockets are left: they lead nowhere but to what the process itself starts.
///
/// # Errors
/// Why there is none for this machine, in words.
pub(super) fn filter(network: bool) -> Result<BpfProgram, String> {
    made(network).map_err(|error| format!("seccomp can't be used ({error})"))
}

/// In the child: from now on it holds.
pub(super) fn enforce(filter: &BpfProgram) -> io::Result<()> {
    apply_filter(filter).map_err(refused)
}

fn made(network: bool) -> Result<BpfProgram, BackendError> {
    let local = SeccompCondition::new(0, SeccompCmpArgLen::Dword, SeccompCmpOp::Eq, libc::AF_UNIX as u64)?;
    // No rule means every call of it.
    let sockets = if network { vec![SeccompRule::new(vec![local])?] } else { Vec::new() };
    let calls = BTreeMap::from([(libc::SYS_socket, sockets), (libc::SYS_io_uring_setup, Vec::new())]);
    let machine = TargetArch::try_from(std::env::consts::ARCH)?;
    let refused = SeccompAction::Errno(libc::EACCES as u32);
    SeccompFilter::new(calls, SeccompAction::Allow, refused, machine)?.try_into()
}
