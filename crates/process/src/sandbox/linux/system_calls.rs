//! A seccomp filter for the system calls that servers don't need and that much of the kernel lies behind: namespaces, mounts,
//! tracing, kernel modules, BPF, swap, clocks. About what container runtimes refuse without further capabilities.
//!
//! bubblewrap itself needs some of them, so it installs this filter right before it runs the server.

use std::collections::BTreeMap;
use std::io::{Seek, Write};
use std::os::fd::OwnedFd;

use nix::libc;
use seccompiler::{
    BackendError, BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter,
    SeccompRule, TargetArch, sock_filter,
};

use super::local_sockets::SECOND_NUMBERS;

/// What is refused whatever the arguments.
const REFUSED: &[libc::c_long] = &[
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
    // Other processes.
    libc::SYS_ptrace,
    libc::SYS_process_vm_readv,
    libc::SYS_process_vm_writev,
    libc::SYS_process_madvise,
    libc::SYS_pidfd_getfd,
    libc::SYS_kcmp,
    libc::SYS_move_pages,
    libc::SYS_migrate_pages,
    // What has let programs into the kernel.
    libc::SYS_bpf,
    libc::SYS_perf_event_open,
    libc::SYS_userfaultfd,
    libc::SYS_io_uring_setup,
    libc::SYS_io_uring_enter,
    libc::SYS_io_uring_register,
    // The kernel itself.
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
    // The whole computer's clock and name.
    libc::SYS_settimeofday,
    libc::SYS_clock_settime,
    libc::SYS_clock_adjtime,
    libc::SYS_sethostname,
    libc::SYS_setdomainname,
    // The kernel's keyrings, which no namespace has of its own.
    libc::SYS_add_key,
    libc::SYS_request_key,
    libc::SYS_keyctl,
];
/// The same, which only this kind of machine has.
#[cfg(target_arch = "x86_64")]
const REFUSED_HERE: &[libc::c_long] = &[
    libc::SYS_iopl,
    libc::SYS_ioperm,
    libc::SYS_modify_ldt,
    libc::SYS_uselib,
    libc::SYS_ustat,
    libc::SYS_sysfs,
    libc::SYS__sysctl,
];
#[cfg(not(target_arch = "x86_64"))]
const REFUSED_HERE: &[libc::c_long] = &[];

/// The flags with which `clone` makes a namespace.
const NEW_NAMESPACES: [libc::c_int; 7] = [
    libc::CLONE_NEWNS,
    libc::CLONE_NEWCGROUP,
    libc::CLONE_NEWUTS,
    libc::CLONE_NEWIPC,
    libc::CLONE_NEWUSER,
    libc::CLONE_NEWPID,
    libc::CLONE_NEWNET,
];
/// The option of `prctl` by which a process takes over the orphans of its descendants, or stops doing so. Under Landlock the server's
/// first process does that for all, so that none is missed when they are counted and ended.
const SUBREAPER: u64 = libc::PR_SET_CHILD_SUBREAPER as u64;
/// What types into a terminal on behalf of its user.
const TYPING: [u64; 2] = [0x5412, 0x541c];

/// Where the kernel names what its filters can do.
const KERNEL_ACTIONS: &str = "/proc/sys/kernel/seccomp/actions_avail";

/// The filter.
///
/// # Errors
/// Why there is none for this machine, in words.
pub(super) fn filter() -> Result<BpfProgram, String> {
    made().map_err(|error| format!("seccomp can't be used ({error})"))
}

/// Whether the kernel takes filters that refuse a call.
///
/// # Errors
/// Why not, in words.
pub(super) fn check() -> Result<(), String> {
    filter()?;
    let known = std::fs::read_to_string(KERNEL_ACTIONS)
        .map_err(|error| format!("seccomp can't be used ({KERNEL_ACTIONS}: {error})"))?;
    let refuses = known.split_whitespace().any(|action| action == "errno");
    refuses.then_some(()).ok_or_else(|| "seccomp can't be used (the kernel can't refuse calls)".to_owned())
}

/// The filter as bubblewrap reads it, from an open file.
///
/// # Errors
/// Why it can't be passed on, in words.
pub(super) fn file() -> Result<OwnedFd, String> {
    let mut bytes = Vec::new();
    for instruction in filter()? {
        bytes.extend_from_slice(&instruction.code.to_ne_bytes());
        bytes.extend([instruction.jt, instruction.jf]);
        bytes.extend_from_slice(&instruction.k.to_ne_bytes());
    }
    let failed = |error: std::io::Error| format!("seccomp's filter can't be passed on ({error})");
    let mut file = crate::platform::memory_file().map_err(failed)?;
    file.write_all(&bytes).and_then(|()| file.rewind()).map_err(failed)?;
    Ok(file.into())
}

fn made() -> Result<BpfProgram, BackendError> {
    let mut calls: BTreeMap<libc::c_long, Vec<SeccompRule>> = BTreeMap::new();
    // No rule means every call of it.
    calls.extend(REFUSED.iter().chain(REFUSED_HERE).map(|call| (*call, Vec::new())));
    let has_flag = |flag: libc::c_int| {
        let flag = u64::from(flag.cast_unsigned());
        SeccompRule::new(vec![SeccompCondition::new(0, SeccompCmpArgLen::Qword, SeccompCmpOp::MaskedEq(flag), flag)?])
    };
    calls.insert(libc::SYS_clone, NEW_NAMESPACES.into_iter().map(has_flag).collect::<Result<_, _>>()?);
    let asks = |request: u64| {
        SeccompRule::new(vec![SeccompCondition::new(1, SeccompCmpArgLen::Dword, SeccompCmpOp::Eq, request)?])
    };
    calls.insert(libc::SYS_ioctl, TYPING.into_iter().map(asks).collect::<Result<_, _>>()?);
    let sets = SeccompCondition::new(0, SeccompCmpArgLen::Dword, SeccompCmpOp::Eq, SUBREAPER)?;
    calls.insert(libc::SYS_prctl, vec![SeccompRule::new(vec![sets])?]);
    for second in SECOND_NUMBERS {
        calls.extend(calls.clone().into_iter().map(|(call, rules)| (call | second, rules)));
    }
    let machine = TargetArch::try_from(std::env::consts::ARCH)?;
    let refused = SeccompAction::Errno(libc::EPERM as u32);
    let rest: BpfProgram = SeccompFilter::new(calls, SeccompAction::Allow, refused, machine)?.try_into()?;
    Ok(without_clone3(rest))
}

/// Puts before a filter that the kernel has no `clone3`, whose flags lie in memory that seccomp does not see: libraries then use
/// `clone`. The filter itself sees to programs of other machines.
fn without_clone3(rest: BpfProgram) -> BpfProgram {
    /// Where the number of the call stands in what the filter sees.
    const NUMBER: u32 = 0;
    const LOAD: u16 = (libc::BPF_LD | libc::BPF_W | libc::BPF_ABS) as u16;
    const IS: u16 = (libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K) as u16;
    const ANSWER: u16 = (libc::BPF_RET | libc::BPF_K) as u16;
    let instruction = |code, jt, jf, k| sock_filter { code, jt, jf, k };
    let mut filter = vec![instruction(LOAD, 0, 0, NUMBER)];
    for second in [0].iter().chain(SECOND_NUMBERS) {
        let number = u32::try_from(libc::SYS_clone3 | second).unwrap_or(u32::MAX);
        filter.push(instruction(IS, 0, 1, number));
        filter.push(instruction(ANSWER, 0, 0, libc::SECCOMP_RET_ERRNO | libc::ENOSYS as u32));
    }
    filter.extend(rest);
    filter
}
