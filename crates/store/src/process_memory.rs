//! Protects the memory of this process, which contains secrets. Callers: the app and `drawbridge-cli`, at startup.

/// Prevents other processes of the same user from reading the memory of this process, and the operating system from
/// writing it to disk when the process crashes. Must be called at startup, before any secret is read.
///
/// On Linux no debugger can be attached afterwards, and `/proc` shows this process's environment and open files to root
/// only. Child processes can be debugged, but write no core dump either. On macOS and Windows only core dumps are
/// prevented, if the operating system supports a limit on their size.
pub fn keep_process_memory_private() {
    #[cfg(unix)]
    {
        use nix::sys::resource::{Resource, setrlimit};
        // Lowering a limit is always permitted.
        if let Err(error) = setrlimit(Resource::RLIMIT_CORE, 0, 0) {
            tracing::warn!(%error, "a crash may leave a core file, with secrets in it");
        }
    }
    #[cfg(target_os = "linux")]
    if let Err(error) = nix::sys::prctl::set_dumpable(false) {
        tracing::warn!(%error, "other programs of the same user may read this one's memory");
    }
}
