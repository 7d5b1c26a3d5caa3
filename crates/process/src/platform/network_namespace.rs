//! Listens in the network namespace of another process: a short-lived child enters the namespace and sends the socket
//! back.
#![allow(unsafe_code)]

use std::fs::File;
use std::io::{self, IoSlice, IoSliceMut};
use std::net::Ipv4Addr;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd};
use std::os::unix::fs::MetadataExt;

use nix::cmsg_space;
use nix::errno::Errno;
use nix::libc;
use nix::sched::{CloneFlags, setns};
use nix::sys::socket::{
    AddressFamily, Backlog, ControlMessage, ControlMessageOwned, MsgFlags, SockFlag, SockType, SockaddrIn, bind,
    listen, recvmsg, sendmsg, setsockopt, socket, socketpair, sockopt,
};
use nix::sys::wait::{WaitStatus, waitpid};
use nix::unistd::{ForkResult, fork};

/// Maximum number of connections that wait for the listener to accept them.
const LISTEN_BACKLOG: i32 = 128;
/// The ioctl that opens the user namespace to which another namespace belongs (`ioctl_ns(2)`).
const NS_GET_USERNS: libc::c_ulong = 0xb701;

/// Opens a TCP socket that listens on this port of the loopback interface in the network namespace of a process.
/// `number` is the inode of the namespace, or `None` if it is unknown. Blocks while a child process runs.
///
/// # Errors
/// Returns an I/O error if the process has ended, has the same network namespace as the app, or has one that can't be
/// entered.
pub(crate) fn listen_in_network_namespace_of(
    pid: u32,
    number: Option<u64>,
    port: u16,
) -> io::Result<std::net::TcpListener> {
    let network = File::open(format!("/proc/{pid}/ns/net"))?;
    let (own, of_process) = (std::fs::metadata("/proc/self/ns/net")?, network.metadata()?);
    // The pid may have been reused by another process.
    if own.ino() == of_process.ino() || number.is_some_and(|number| number != of_process.ino()) {
        return Err(io::Error::other("the process has no separate network namespace"));
    }
    let owner = owner_user_namespace(network.as_fd())?;
    let is_own = File::from(owner.try_clone()?).metadata()?.ino() == std::fs::metadata("/proc/self/ns/user")?.ino();
    let user = (!is_own).then_some(owner.as_fd());
    let (here, there) = socketpair(AddressFamily::Unix, SockType::SeqPacket, None, SockFlag::SOCK_CLOEXEC)?;
    // SAFETY: the child makes system calls and exits without running other code of this process. It allocates only
    // through functions that the C library makes safe after a fork.
    match unsafe { fork() }? {
        ForkResult::Child => {
            let code = match open_listener_and_send_to_parent(user, network.as_fd(), port, there.as_fd()) {
                Ok(()) => 0,
                Err(errno) => errno as i32,
            };
            // SAFETY: ends the child immediately, without running exit handlers of its parent.
            unsafe { libc::_exit(code) }
        }
        ForkResult::Parent { child } => {
            drop(there);
            let received = receive_descriptor(here.as_fd());
            match waitpid(child, None)? {
                WaitStatus::Exited(_, 0) => received.map(std::net::TcpListener::from),
                WaitStatus::Exited(_, code) => Err(io::Error::from_raw_os_error(code)),
                _ => Err(io::Error::other("the process that enters the network was killed")),
            }
        }
    }
}

fn owner_user_namespace(network: BorrowedFd<'_>) -> io::Result<OwnedFd> {
    // SAFETY: the call takes an open descriptor and returns a new one.
    let owner = unsafe { libc::ioctl(network.as_raw_fd(), NS_GET_USERNS as _) };
    if owner < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the descriptor was just opened and has no other owner.
    Ok(unsafe { OwnedFd::from_raw_fd(owner) })
}

/// Opens the listener in the network namespace and sends its descriptor to the parent. Runs in the child.
fn open_listener_and_send_to_parent(
    user: Option<BorrowedFd<'_>>,
    network: BorrowedFd<'_>,
    port: u16,
    to: BorrowedFd<'_>,
) -> nix::Result<()> {
    if let Some(user) = user {
        setns(user, CloneFlags::CLONE_NEWUSER)?;
    }
    setns(network, CloneFlags::CLONE_NEWNET)?;
    let listener =
        socket(AddressFamily::Inet, SockType::Stream, SockFlag::SOCK_CLOEXEC | SockFlag::SOCK_NONBLOCK, None)?;
    setsockopt(&listener, sockopt::ReuseAddr, &true)?;
    let [a, b, c, d] = Ipv4Addr::LOCALHOST.octets();
    bind(listener.as_raw_fd(), &SockaddrIn::new(a, b, c, d, port))?;
    listen(&listener, Backlog::new(LISTEN_BACKLOG)?)?;
    let descriptors = [listener.as_raw_fd()];
    let rights = [ControlMessage::ScmRights(&descriptors)];
    sendmsg::<()>(to.as_raw_fd(), &[IoSlice::new(&[0])], &rights, MsgFlags::empty(), None).map(drop)
}

/// Receives the listener's descriptor from the child. Returns an error if the child ends without sending one.
fn receive_descriptor(from: BorrowedFd<'_>) -> io::Result<OwnedFd> {
    let mut byte = [0];
    let mut parts = [IoSliceMut::new(&mut byte)];
    let mut space = cmsg_space!(libc::c_int);
    let message = loop {
        match recvmsg::<()>(from.as_raw_fd(), &mut parts, Some(&mut space), MsgFlags::MSG_CMSG_CLOEXEC) {
            Err(Errno::EINTR) => {}
            other => break other?,
        }
    };
    let descriptor = message.cmsgs()?.find_map(|part| match part {
        ControlMessageOwned::ScmRights(descriptors) => descriptors.first().copied(),
        _ => None,
    });
    let descriptor = descriptor.ok_or_else(|| io::Error::other("no socket was passed on"))?;
    // SAFETY: the kernel just created the descriptor for this process, so it has no other owner.
    Ok(unsafe { OwnedFd::from_raw_fd(descriptor) })
}
