//! A seccomp filter for system calls that servers don't need and that expose large parts of the kernel: namespaces,
//! mounts, tracing, kernel modules, BPF, swap, clocks. Similar to the default filters of container runtimes.
//!
//! bubblewrap itself needs some of these calls, so it installs this filter immediately before it runs the server.

use std::collections::BTreeMap;
use std::io::{Seek, Write};
use std::os::fd::OwnedFd;

use nix::libc;
use seccompiler::{
    BackendError, BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter,
    SeccompRule, TargetArch, sock_filter,
};

use super::local_sockets::ALTERNATIVE_SYSTEM_CALL_NUMBER_OFFSETS;

/// System calls that are refused regardless of their arguments.
const REFUSED_SYSTEM_CALLS: &[libc::c_long] = &[
    // Namespaces.
    libc::SYS_unshare,
    libc::SYS_setns,
    // Mounts and file systems.
    libc::SYS_mount,
    libc::SYS_umount2,
    libc::SYS_pivot_root,
    libc::SYS_chroot,
    libc::SYS_open_tree,
    libc::SYS_move_mount,
    libc::SYS_fsopen,
    libc::SYS_fsconfig,
    libc::SYS_fsmount,
    libc::SYS_fspick,
    libc::SYS_mount_setattr,
    libc::SYS_open_by_handle_at,
    libc::SYS_fanotify_init,
    libc::SYS_quotactl,
    libc::SYS_quotactl_fd,
    libc::SYS_swapon,
    libc::SYS_swapoff,
    // Access to other processes.
    libc::SYS_ptrace,
    libc::SYS_process_vm_readv,
    libc::SYS_process_vm_writev,
    libc::SYS_process_madvise,
    libc::SYS_pidfd_getfd,
    libc::SYS_kcmp,
    libc::SYS_move_pages,
    libc::SYS_migrate_pages,
    // Calls with a history of kernel vulnerabilities.
    libc::SYS_bpf,
    libc::SYS_perf_event_open,
    libc::SYS_userfaultfd,
    libc::SYS_io_uring_setup,
    libc::SYS_io_uring_enter,
    libc::SYS_io_uring_register,
    // Changes of the kernel itself.
    libc::SYS_init_module,
    libc::SYS_finit_module,
    libc::SYS_delete_module,
    libc::SYS_kexec_load,
    libc::SYS_kexec_file_load,
    libc::SYS_reboot,
    libc::SYS_syslog,
    libc::SYS_acct,
    libc::SYS_vhangup,
    libc::SYS_nfsservctl,
    // Clock and host name of the computer.
    libc::SYS_settimeofday,
    libc::SYS_clock_settime,
    libc::SYS_clock_adjtime,
    libc::SYS_sethostname,
    libc::SYS_setdomainname,
    // The kernel's keyrings, which are not namespaced.
    libc::SYS_add_key,
    libc::SYS_request_key,
    libc::SYS_keyctl,
];
/// Refused system calls that exist only on this processor architecture.
#[cfg(target_arch = "x86_64")]
const ARCHITECTURE_SPECIFIC_REFUSED_SYSTEM_CALLS: &[libc::c_long] = &[
    libc::SYS_iopl,
    libc::SYS_ioperm,
    libc::SYS_modify_ldt,
    libc::SYS_uselib,
    libc::SYS_ustat,
    libc::SYS_sysfs,
    libc::SYS__sysctl,
];
#[cfg(not(target_arch = "x86_64"))]
const ARCHITECTURE_SPECIFIC_REFUSED_SYSTEM_CALLS: &[libc::c_long] = &[];

/// Flags of the system call `clone` that create a namespace.
const NAMESPACE_CLONE_FLAGS: [libc::c_int; 7] = [
    libc::CLONE_NEWNS,
    libc::CLONE_NEWCGROUP,
    libc::CLONE_NEWUTS,
    libc::CLONE_NEWIPC,
    libc::CLONE_NEWUSER,
    libc::CLONE_NEWPID,
    libc::CLONE_NEWNET,
];
/// Option of `prctl` that makes the calling process the reaper of its orphaned descendants, or ends that. Under
/// Landlock the server's first process is the reaper of all its descendants, so that none is missed when processes are
/// counted and ended.
const SUBREAPER_OPTION: u64 = libc::PR_SET_CHILD_SUBREAPER as u64;
/// `ioctl` requests that insert input into a terminal.
const TERMINAL_INPUT_IOCTLS: [u64; 2] = [0x5412, 0x541c];

/// File that lists the seccomp filter actions that the kernel supports.
const KERNEL_ACTIONS_FILE: &str = "/proc/sys/kernel/seccomp/actions_avail";

/// Returns the seccomp filter that makes the system calls in [`REFUSED_SYSTEM_CALLS`] and similar ones fail.
pub(super) fn seccomp_filter() -> Result<BpfProgram, String> {
    build_system_call_filter().map_err(|error| format!("seccomp can't be used ({error})"))
}

/// Checks that the kernel supports seccomp filters that make a system call fail.
///
/// # Errors
/// Returns a message that explains why filters can't be used.
pub(super) fn check_seccomp_support() -> Result<(), String> {
    seccomp_filter()?;
    let known = std::fs::read_to_string(KERNEL_ACTIONS_FILE)
        .map_err(|error| format!("seccomp can't be used ({KERNEL_ACTIONS_FILE}: {error})"))?;
    let refuses = known.split_whitespace().any(|action| action == "errno");
    refuses.then_some(()).ok_or_else(|| "seccomp can't be used (the kernel can't refuse calls)".to_owned())
}

/// Returns an open file with the seccomp filter in the format that bubblewrap reads.
///
/// # Errors
/// Returns a message if the filter or the file can't be created.
pub(super) fn seccomp_filter_file() -> Result<OwnedFd, String> {
    let mut bytes = Vec::new();
    for instruction in seccomp_filter()? {
        bytes.extend_from_slice(&instruction.code.to_ne_bytes());
        bytes.extend([instruction.jt, instruction.jf]);
        bytes.extend_from_slice(&instruction.k.to_ne_bytes());
    }
    let failed = |error: std::io::Error| format!("seccomp's filter can't be passed on ({error})");
    let mut file = crate::platform::create_anonymous_file().map_err(failed)?;
    file.write_all(&bytes).and_then(|()| file.rewind()).map_err(failed)?;
    Ok(file.into())
}

fn build_system_call_filter() -> Result<BpfProgram, BackendError> {
    let mut calls: BTreeMap<libc::c_long, Vec<SeccompRule>> = BTreeMap::new();
    // A system call without rules matches with any arguments.
    calls.extend(
        REFUSED_SYSTEM_CALLS.iter().chain(ARCHITECTURE_SPECIFIC_REFUSED_SYSTEM_CALLS).map(|call| (*call, Vec::new())),
    );
    let has_flag = |flag: libc::c_int| {
        let flag = u64::from(flag.cast_unsigned());
        SeccompRule::new(vec![SeccompCondition::new(0, SeccompCmpArgLen::Qword, SeccompCmpOp::MaskedEq(flag), flag)?])
    };
    calls.insert(libc::SYS_clone, NAMESPACE_CLONE_FLAGS.into_iter().map(has_flag).collect::<Result<_, _>>()?);
    let rule_for = |request: u64| {
        SeccompRule::new(vec![SeccompCondition::new(1, SeccompCmpArgLen::Dword, SeccompCmpOp::Eq, request)?])
    };
    calls.insert(libc::SYS_ioctl, TERMINAL_INPUT_IOCTLS.into_iter().map(rule_for).collect::<Result<_, _>>()?);
    let sets = SeccompCondition::new(0, SeccompCmpArgLen::Dword, SeccompCmpOp::Eq, SUBREAPER_OPTION)?;
    calls.insert(libc::SYS_prctl, vec![SeccompRule::new(vec![sets])?]);
    for second in ALTERNATIVE_SYSTEM_CALL_NUMBER_OFFSETS {
        calls.extend(calls.clone().into_iter().map(|(call, rules)| (call | second, rules)));
    }
    let machine = TargetArch::try_from(std::env::consts::ARCH)?;
    let refused = SeccompAction::Errno(libc::EPERM as u32);
    let rest: BpfProgram = SeccompFilter::new(calls, SeccompAction::Allow, refused, machine)?.try_into()?;
    Ok(reject_clone3_system_call(rest))
}

/// Prepends instructions to a seccomp filter that make `clone3` fail as unimplemented. Seccomp can't see the flags of
/// `clone3`, which are in memory, and libraries then fall back to `clone`. The `rest` of the filter checks the
/// architecture.
fn reject_clone3_system_call(rest: BpfProgram) -> BpfProgram {
    /// Offset of the system call number in the input of a seccomp filter.
    const SYSTEM_CALL_NUMBER_OFFSET: u32 = 0;
    const BPF_LOAD_WORD: u16 = (libc::BPF_LD | libc::BPF_W | libc::BPF_ABS) as u16;
    const BPF_JUMP_IF_EQUAL: u16 = (libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K) as u16;
    const BPF_RETURN_VALUE: u16 = (libc::BPF_RET | libc::BPF_K) as u16;
    let instruction = |code, jt, jf, k| sock_filter { code, jt, jf, k };
    let mut filter = vec![instruction(BPF_LOAD_WORD, 0, 0, SYSTEM_CALL_NUMBER_OFFSET)];
    for second in [0].iter().chain(ALTERNATIVE_SYSTEM_CALL_NUMBER_OFFSETS) {
        let number = u32::try_from(libc::SYS_clone3 | second).unwrap_or(u32::MAX);
        filter.push(instruction(BPF_JUMP_IF_EQUAL, 0, 1, number));
        filter.push(instruction(BPF_RETURN_VALUE, 0, 0, libc::SECCOMP_RET_ERRNO | libc::ENOSYS as u32));
    }
    filter.extend(rest);
    filter
}
