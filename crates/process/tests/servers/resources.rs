//! S37: tests of the resource limits of a sandboxed server.

use process::sandbox::{ResourceLimits, SandboxSettings};

use crate::finished::FinishedServer;
use crate::test_user_home::{TestUserHome, run_python, search_path_per_sandbox_mechanism};

async fn assert_stopped_by_limit(script: &str, limits: ResourceLimits, words: &str) {
    for (name, path) in search_path_per_sandbox_mechanism().await {
        let ground = TestUserHome::new();
        let sandbox = SandboxSettings { limits, ..ground.sandbox(false) };
        let Some(FinishedServer { exit, stderr, .. }) = run_python(script, sandbox, &path).await else {
            return;
        };
        let exceeded = exit.exceeded.map(|exceeded| exceeded.to_string());
        assert_eq!(
            exceeded.as_deref(),
            Some(words),
            "S37: {name}: the server must be stopped for this limit: {stderr:?}"
        );
    }
}

/// Resource limits that are wide enough for tests of one other limit.
const AMPLE_RESOURCE_LIMITS: ResourceLimits = ResourceLimits {
    processes: 64,
    memory_bytes: 512 * 1024 * 1024,
    home_bytes: 16 * 1024 * 1024,
    processor_seconds: 1_000,
};

#[tokio::test]
async fn s37_fork_bomb_is_stopped() {
    let script =
        "import os, time\nwhile True:\n    if os.fork() == 0:\n        time.sleep(1000)\n    time.sleep(0.002)";
    assert_stopped_by_limit(script, AMPLE_RESOURCE_LIMITS, "it ran more than 64 processes and threads").await;
}

#[tokio::test]
async fn s37_excessive_memory_use_is_stopped() {
    let script = "import time\nheld = []\nwhile True:\n    held.append(b'x' * (8 << 20))\n    time.sleep(0.01)";
    let limits = ResourceLimits { memory_bytes: 128 * 1024 * 1024, ..AMPLE_RESOURCE_LIMITS };
    // The kernel's own limit is twice as high and may take effect first on a slow computer. The script then waits to be
    // stopped.
    let script =
        format!("import sys\ntry:\n    exec({script:?})\nexcept MemoryError:\n    import time\n    time.sleep(1000)");
    assert_stopped_by_limit(&script, limits, "it used more than 128 MiB of memory").await;
}

#[tokio::test]
async fn s37_memory_shared_by_processes_counts_once() {
    // Each measurement finds five processes with 60 MiB each.
    let script = "import os, sys, time\nheld = b'x' * (60 << 20)\nfor _ in range(4):\n    if os.fork() == 0:\n        time.sleep(3)\n        os._exit(0)\nfor _ in range(4):\n    os.wait()\nprint('worked', file=sys.stderr)";
    for (name, path) in search_path_per_sandbox_mechanism().await {
        let ground = TestUserHome::new();
        let limits = ResourceLimits { memory_bytes: 128 * 1024 * 1024, ..AMPLE_RESOURCE_LIMITS };
        let sandbox = SandboxSettings { limits, ..ground.sandbox(false) };
        let Some(FinishedServer { exit, stderr, .. }) = run_python(script, sandbox, &path).await else {
            return;
        };
        assert!(
            stderr.iter().any(|line| line == "worked"),
            "S37: {name}: the server must not be stopped: {exit:?} {stderr:?}"
        );
    }
}

#[tokio::test]
async fn s37_excessive_disk_use_of_the_home_is_stopped() {
    let script = "import os, time\nfile = open(os.environ['HOME'] + '/file', 'wb')\nwhile True:\n    file.write(b'x' * (1 << 20)); file.flush()\n    time.sleep(0.02)";
    assert_stopped_by_limit(script, AMPLE_RESOURCE_LIMITS, "its home folder contained more than 16 MiB").await;
}

#[tokio::test]
async fn s37_busy_loop_is_stopped_with_its_child_processes() {
    let script = "import subprocess, sys\nsubprocess.run([sys.executable, '-c', 'while True: pass'])";
    let limits = ResourceLimits { processor_seconds: 1, ..AMPLE_RESOURCE_LIMITS };
    assert_stopped_by_limit(script, limits, "it used more than 1 seconds of processor time within an hour").await;
}

#[tokio::test]
async fn s37_reparented_processes_are_counted() {
    let script = "import os, time\nfor _ in range(100):\n    if os.fork() == 0:\n        os.setsid()\n        if os.fork() != 0:\n            os._exit(0)\n        time.sleep(1000)\ntime.sleep(1000)";
    assert_stopped_by_limit(script, AMPLE_RESOURCE_LIMITS, "it ran more than 64 processes and threads").await;
}
