//! A seccomp filter that blocks communication with other programs of the same computer by means that neither a separate
//! file system nor a separate network prevents: sockets, System V shared memory, and the kernel's keyrings. Under
//! Landlock and without network access, all sockets are blocked, because Landlock restricts only TCP.

use std::collections::BTreeMap;
use std::io;

use nix::libc;
use seccompiler::{
    BackendError, BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter,
    SeccompRule, TargetArch, apply_filter,
};

use super::sandbox_setup_error;

/// Socket families that networking needs. Sockets of all other families connect to programs on this computer, or to the
/// host of a virtual machine.
const NETWORK_ADDRESS_FAMILIES: [libc::c_int; 3] = [libc::AF_INET, libc::AF_INET6, libc::AF_NETLINK];
/// Mask of the bits in a socket's type argument that encode the type.
const SOCKET_TYPE_MASK: u64 = 0xf;
/// System calls that are always refused: System V memory, messages and semaphores, which all programs of the user
/// share; the kernel's keyrings, which are not namespaced; and io_uring, whose operations seccomp does not see.
const REFUSED_IPC_SYSTEM_CALLS: [libc::c_long; 8] = [
    libc::SYS_shmget,
    libc::SYS_shmat,
    libc::SYS_msgget,
    libc::SYS_semget,
    libc::SYS_add_key,
    libc::SYS_request_key,
    libc::SYS_keyctl,
    libc::SYS_io_uring_setup,
];
/// Offsets from the usual to alternative system call numbers: on x86-64, a program can make each call under a second
/// number (x32).
#[cfg(target_arch = "x86_64")]
pub(super) const ALTERNATIVE_SYSTEM_CALL_NUMBER_OFFSETS: &[libc::c_long] = &[0x4000_0000];
#[cfg(not(target_arch = "x86_64"))]
pub(super) const ALTERNATIVE_SYSTEM_CALL_NUMBER_OFFSETS: &[libc::c_long] = &[];

/// Returns the filter for a server that has network access or not. Pairs of connected stream sockets are allowed,
/// because they connect only processes that the server starts. Pairs of datagram sockets are refused, because they can
/// send to any address.
///
/// # Errors
/// Returns a message if seccomp does not support this computer's architecture.
pub(super) fn seccomp_filter(network: bool) -> Result<BpfProgram, String> {
    build_local_socket_filter(network).map_err(|error| format!("seccomp can't be used ({error})"))
}

/// Applies a seccomp filter to the current process. Runs in the child before its program.
pub(super) fn enforce(filter: &BpfProgram) -> io::Result<()> {
    apply_filter(filter).map_err(sandbox_setup_error)
}

fn build_local_socket_filter(network: bool) -> Result<BpfProgram, BackendError> {
    let is_not = |family| SeccompCondition::new(0, SeccompCmpArgLen::Dword, SeccompCmpOp::Ne, family as u64);
    let local = NETWORK_ADDRESS_FAMILIES.into_iter().map(is_not).collect::<Result<_, _>>()?;
    // A system call without rules matches with any arguments.
    let sockets = if network { vec![SeccompRule::new(local)?] } else { Vec::new() };
    let is_connected = |kind: &u64| [libc::SOCK_STREAM, libc::SOCK_SEQPACKET].contains(&(*kind as libc::c_int));
    let is_of =
        |kind| SeccompCondition::new(1, SeccompCmpArgLen::Dword, SeccompCmpOp::MaskedEq(SOCKET_TYPE_MASK), kind);
    let pairs = (0..=SOCKET_TYPE_MASK).filter(|kind| !is_connected(kind));
    let pairs: Vec<SeccompRule> = pairs.map(|kind| SeccompRule::new(vec![is_of(kind)?])).collect::<Result<_, _>>()?;
    let mut calls = BTreeMap::from([(libc::SYS_socket, sockets), (libc::SYS_socketpair, pairs)]);
    calls.extend(REFUSED_IPC_SYSTEM_CALLS.map(|call| (call, Vec::new())));
    for second in ALTERNATIVE_SYSTEM_CALL_NUMBER_OFFSETS {
        calls.extend(calls.clone().into_iter().map(|(call, rules)| (call | second, rules)));
    }
    let machine = TargetArch::try_from(std::env::consts::ARCH)?;
    let refused = SeccompAction::Errno(libc::EACCES as u32);
    SeccompFilter::new(calls, SeccompAction::Allow, refused, machine)?.try_into()
}
