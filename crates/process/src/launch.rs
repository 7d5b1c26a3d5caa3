//! The one place where a process is started.
//!
//! Linux ends a child when the *thread* that started it ends, so every process is started
//! from one thread that lives as long as the app.

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

/// How long the system may take to start a program (it may lie on a folder of the network).
const START_LIMIT: Duration = Duration::from_secs(10);

/// How many starts may wait for their turn.
const WAITING_STARTS: usize = 1024;

/// Prepares the child of a command, to give up rights before its program runs.
pub(crate) type ChildSetup = Box<dyn FnOnce(&mut Command) + Send>;

/// A process to start. Nothing is inherited but what stands here.
pub(crate) struct Launch {
    pub(crate) program: PathBuf,
    pub(crate) arguments: Vec<OsString>,
    pub(crate) environment: Vec<(OsString, OsString)>,
    pub(crate) directory: PathBuf,
    /// Whether input and standard error are pipes; otherwise they lead nowhere.
    pub(crate) conversation: bool,
    /// Runs on the command right before the start.
    pub(crate) setup: Option<ChildSetup>,
}

type Job = Box<dyn FnOnce() + Send>;

static LAUNCHER: Mutex<Option<SyncSender<Job>>> = Mutex::new(None);

impl Launch {
    /// Starts the process in its own session (Windows: its own job).
    pub(crate) async fn start(self) -> io::Result<Box<dyn ChildWrapper>> {
        let runtime = Handle::current();
        let (reply, started) = oneshot::channel();
        submit(Box::new(move || {
            let _runtime = runtime.enter();
            // Nobody waits any more: the process is dropped, and killed by that.
            if let Err(Ok(mut late)) = reply.send(self.start_here()) {
                let _ = late.start_kill();
            }
        }))?;
        match timeout(START_LIMIT, started).await {
            Ok(Ok(result)) => result,
            Ok(Err(_)) => Err(io::Error::other("the starting thread has ended")),
            Err(_) => {
                // The thread is stuck in the system. It stays as the parent of what it has started;
                // a new one serves what comes next.
                *lock() = None;
                Err(io::Error::from(io::ErrorKind::TimedOut))
            }
        }
    }

    #[allow(clippy::disallowed_methods, reason = "the one place")]
    fn start_here(self) -> io::Result<Box<dyn ChildWrapper>> {
        let pipe_if = |wanted: bool| {
            if wanted { Stdio::piped() } else { Stdio::null() }
        };
        let mut command = Command::new(&self.program);
        command
            .args(&self.arguments)
            .env_clear()
            .envs(self.environment.iter().map(|(name, value)| (name, value)))
            .current_dir(&self.directory)
            .stdin(pipe_if(self.conversation))
            .stdout(Stdio::piped())
            .stderr(pipe_if(self.conversation));
        let mut command = CommandWrap::from(command);
        platform::isolate(&mut command);
        if let Some(setup) = self.setup {
            setup(command.command_mut());
        }
        command.spawn()
    }
}

fn submit(job: Job) -> io::Result<()> {
    let mut launcher = lock();
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
    let (jobs, received) = sync_channel::<Job>(WAITING_STARTS);
    std::thread::Builder::new().name("process-parent".to_owned()).spawn(move || {
        for job in received {
            job();
        }
        // Ending now would kill what was started here.
        loop {
            std::thread::park();
        }
    })?;
    jobs.try_send(job).map_err(|_| io::Error::other("the starting thread has ended"))?;
    *launcher = Some(jobs);
    Ok(())
}

fn lock() -> std::sync::MutexGuard<'static, Option<SyncSender<Job>>> {
    LAUNCHER.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}
