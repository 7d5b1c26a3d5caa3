//! The memory of this process, in which secrets lie while it runs. Callers: the app and `drawbridge-cli`, in their first lines.

/// Keeps other programs of the same user from reading the memory of this process, and the system from writing it to disk when the
/// process crashes. For the start of a program, before it reads any secret.
///
/// On Linux no debugger can be attached from then on, and `/proc` shows this process's environment and open files to root alone. The
/// programs that it starts can be debugged as before, but leave no core either. macOS and Windows: only cores are prevented, where the
/// system has a limit for them.
pub fn keep_process_memory_private() {
    #[cfg(unix)]
    {
        use nix::sys::resource::{Resource, setrlimit};
        // To want less is always granted.
        if let Err(error) = setrlimit(Resource::RLIMIT_CORE, 0, 0) {
            tracing::warn!(%error, "a crash may leave a core file, with secrets in it");
        }
    }
    #[cfg(target_os = "linux")]
    if let Err(error) = nix::sys::prctl::set_dumpable(false) {
        tracing::warn!(%error, "other programs of the same user may read this one's memory");
    }
}
