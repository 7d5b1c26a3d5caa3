//! Code specific to operating systems: process groups, ending them, and distinguishing a process from a later one with
//! the same pid. One module per operating system, with the same functions in each.

mod start_time;
pub use start_time::StartTime;

#[cfg(unix)]
mod before_exec;
#[cfg(target_os = "linux")]
pub(crate) use before_exec::{add_pre_exec_step, create_anonymous_file, drop_capabilities, make_inheritable};
#[cfg(unix)]
mod input_pipe;
#[cfg(unix)]
mod unix;

#[cfg(target_os = "linux")]
mod linux;
#[cfg(target_os = "linux")]
mod network_namespace;
#[cfg(target_os = "linux")]
mod process_marks;
#[cfg(target_os = "linux")]
mod process_usage;
#[cfg(target_os = "linux")]
mod write_lease;
#[cfg(target_os = "linux")]
pub(crate) use network_namespace::listen_in_network_namespace_of;
#[cfg(target_os = "linux")]
pub(crate) use process_marks::{
    ProcessMark, find_descendants, kill_processes, kill_processes_marked_by_owner, new_mark,
};
#[cfg(target_os = "linux")]
pub(crate) use process_usage::{ProcessTreeUsage, process_tree_memory, process_tree_usage};
#[cfg(target_os = "linux")]
pub(crate) use write_lease::has_no_writers;
#[cfg(not(target_os = "linux"))]
mod no_process_marks;
#[cfg(not(target_os = "linux"))]
pub(crate) use no_process_marks::{
    ProcessMark, find_descendants, kill_processes, kill_processes_marked_by_owner, new_mark,
};

#[cfg(target_os = "linux")]
pub(crate) use linux::{group_has_open_pipe, has_ended, start_time_of};

#[cfg(all(unix, not(target_os = "linux")))]
mod macos;
#[cfg(all(unix, not(target_os = "linux")))]
pub(crate) use macos::{group_has_open_pipe, has_ended, start_time_of};

#[cfg(unix)]
pub use input_pipe::InputPipe;
#[cfg(unix)]
pub(crate) use input_pipe::open_input_pipe;
#[cfg(unix)]
pub(crate) use unix::{exit_code_and_signal, isolate_child, kill_group, pipe_inode, terminate};

#[cfg(windows)]
mod windows;
#[cfg(windows)]
pub use windows::InputPipe;
#[cfg(windows)]
pub(crate) use windows::{
    exit_code_and_signal, group_has_open_pipe, has_ended, isolate_child, kill_group, open_input_pipe, pipe_inode,
    start_time_of, terminate,
};
