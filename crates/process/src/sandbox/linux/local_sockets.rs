//! A seccomp filter for what neither a file system nor a network of its own keeps a process from: other programs of the same
//! computer, by sockets, by memory that is shared under a number, by the kernel's keyrings. Where Landlock holds a process and it may
//! not use the network, no sockets at all, since Landlock knows only TCP.

use std::collections::BTreeMap;
use std::io;

use nix::libc;
use seccompiler::{
    BackendError, BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter,
    SeccompRule, TargetArch, apply_filter,
};

use super::refused;

/// The families of sockets that a network needs. All others lead to this computer, or to the one it runs on.
const OF_NETWORKS: [libc::c_int; 3] = [libc::AF_INET, libc::AF_INET6, libc::AF_NETLINK];
/// The bits of a socket's type that say what it is.
const TYPE: u64 = 0xf;
/// What is refused altogether: memory, messages and semaphores that any program of the user may share under a number; the kernel's
/// keyrings, which no namespace has of its own; and what seccomp does not see into.
const REFUSED: [libc::c_long; 8] = [
    libc::SYS_shmget,
    libc::SYS_shmat,
    libc::SYS_msgget,
    libc::SYS_semget,
    libc::SYS_add_key,
    libc::SYS_request_key,
    libc::SYS_keyctl,
    libc::SYS_io_uring_setup,
];
/// Programs of x86-64 may make each call under a second number (x32).
#[cfg(target_arch = "x86_64")]
pub(super) const SECOND_NUMBERS: &[libc::c_long] = &[0x4000_0000];
#[cfg(not(target_arch = "x86_64"))]
pub(super) const SECOND_NUMBERS: &[libc::c_long] = &[];

/// The filter. Pairs of sockets that are connected are left: they lead nowhere but to what the process itself starts. One for
/// single messages can be sent to any name.
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
    let is_not = |family| SeccompCondition::new(0, SeccompCmpArgLen::Dword, SeccompCmpOp::Ne, family as u64);
    let local = OF_NETWORKS.into_iter().map(is_not).collect::<Result<_, _>>()?;
    // No rule means every call of it.
    let sockets = if network { vec![SeccompRule::new(local)?] } else { Vec::new() };
    let is_connected = |kind: &u64| [libc::SOCK_STREAM, libc::SOCK_SEQPACKET].contains(&(*kind as libc::c_int));
    let is_of = |kind| SeccompCondition::new(1, SeccompCmpArgLen::Dword, SeccompCmpOp::MaskedEq(TYPE), kind);
    let pairs = (0..=TYPE).filter(|kind| !is_connected(kind));
    let pairs: Vec<SeccompRule> = pairs.map(|kind| SeccompRule::new(vec![is_of(kind)?])).collect::<Result<_, _>>()?;
    let mut calls = BTreeMap::from([(libc::SYS_socket, sockets), (libc::SYS_socketpair, pairs)]);
    calls.extend(REFUSED.map(|call| (call, Vec::new())));
    for second in SECOND_NUMBERS {
        calls.extend(calls.clone().into_iter().map(|(call, rules)| (call | second, rules)));
    }
    let machine = TargetArch::try_from(std::env::consts::ARCH)?;
    let refused = SeccompAction::Errno(libc::EACCES as u32);
    SeccompFilter::new(calls, SeccompAction::Allow, refused, machine)?.try_into()
}
