//! Starts programs for the app. `xtask/src/tidy/single_places.rs` lists the exceptions.
//!
//! Linux ends a child when the *thread* that started it ends, so every process is started from one thread that lives as
//! long as the app.

use std::ffi::OsString;
use std::io;
use std::path::PathBuf;
use std::process::Stdio;
use std::sync::Mutex;
use std::sync::mpsc::{SyncSender, TrySendError, sync_channel};
use std::time::Duration;

use process_wrap::tokio::{ChildWrapper, CommandWrap};
use tokio::process::Command;
use tokio::runtime::Handle;
use tokio::sync::oneshot;
use tokio::time::timeout;

use crate::platform;

/// Time limit for the operating system to start a program, which may be on a network file system.
const PROCESS_START_TIMEOUT: Duration = Duration::from_secs(10);

/// Maximum number of processes that wait until the launcher thread starts them.
const MAX_QUEUED_STARTS: usize = 1024;

/// Function that changes the command of a child process before it is started, for instance so that the child drops
/// privileges before its program runs.
pub(crate) type ChildSetup = Box<dyn FnOnce(&mut Command) + Send>;

/// A process to start. It gets exactly this environment and working directory, and inherits none of the app's.
pub(crate) struct ProcessLaunch {
    pub(crate) program: PathBuf,
    pub(crate) arguments: Vec<OsString>,
    pub(crate) environment: Vec<(OsString, OsString)>,
    pub(crate) directory: PathBuf,
    /// Set if standard input and standard error of the process are pipes. Otherwise they are null devices.
    pub(crate) pipes_input_and_errors: bool,
    /// Function that changes the command before the process is started, or `None`.
    pub(crate) setup: Option<ChildSetup>,
}

type LaunchJob = Box<dyn FnOnce() + Send>;

static LAUNCHER_THREAD_QUEUE: Mutex<Option<SyncSender<LaunchJob>>> = Mutex::new(None);

impl ProcessLaunch {
    /// Starts the process in a new session (on Windows, in a new job).
    pub(crate) async fn start(self) -> io::Result<Box<dyn ChildWrapper>> {
        let runtime = Handle::current();
        let (reply, started) = oneshot::channel();
        submit_launch_job(Box::new(move || {
            let _runtime = runtime.enter();
            // If the caller has stopped waiting, the process is killed.
            if let Err(Ok(mut late)) = reply.send(self.start_on_this_thread()) {
                let _ = late.start_kill();
            }
        }))?;
        match timeout(PROCESS_START_TIMEOUT, started).await {
            Ok(Ok(result)) => result,
            Ok(Err(_)) => Err(io::Error::other("the starting thread has ended")),
            Err(_) => {
                // The thread is blocked in a system call. It remains the parent of the processes that it has started,
                // and a new thread handles later starts.
                *lock_launcher_queue() = None;
                Err(io::Error::from(io::ErrorKind::TimedOut))
            }
        }
    }

    #[allow(clippy::disallowed_methods, reason = "starts programs for the app")]
    fn start_on_this_thread(self) -> io::Result<Box<dyn ChildWrapper>> {
        let pipe_if = |is_piped: bool| {
            if is_piped { Stdio::piped() } else { Stdio::null() }
        };
        let mut command = Command::new(&self.program);
        command
            .args(&self.arguments)
            .env_clear()
            .envs(self.environment.iter().map(|(name, value)| (name, value)))
            .current_dir(&self.directory)
            .stdin(pipe_if(self.pipes_input_and_errors))
            .stdout(Stdio::piped())
            .stderr(pipe_if(self.pipes_input_and_errors));
        let mut command = CommandWrap::from(command);
        platform::isolate_child(&mut command);
        if let Some(setup) = self.setup {
            setup(command.command_mut());
        }
        command.spawn()
    }
}

fn submit_launch_job(job: LaunchJob) -> io::Result<()> {
    let mut launcher = lock_launcher_queue();
    let job = match launcher.as_ref() {
        Some(running) => match running.try_send(job) {
            Ok(()) => return Ok(()),
            Err(TrySendError::Full(_)) => {
                return Err(io::Error::other("too many programs are being started at once"));
            }
            Err(TrySendError::Disconnected(job)) => job,
        },
        None => job,
    };
    let (jobs, received) = sync_channel::<LaunchJob>(MAX_QUEUED_STARTS);
    std::thread::Builder::new().name("process-parent".to_owned()).spawn(move || {
        for job in received {
            job();
        }
        // Ending the thread now would kill the processes it has started.
        loop {
            std::thread::park();
        }
    })?;
    jobs.try_send(job).map_err(|_| io::Error::other("the starting thread has ended"))?;
    *launcher = Some(jobs);
    Ok(())
}

fn lock_launcher_queue() -> std::sync::MutexGuard<'static, Option<SyncSender<LaunchJob>>> {
    LAUNCHER_THREAD_QUEUE.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}
