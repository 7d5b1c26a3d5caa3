// Serializes reads from the host, so that no response overtakes a newer one.

/**
 * Returns a function that never runs `read` concurrently. Calls during a run cause one further run. All callers wait
 * for the last run.
 */
export function serializeReads(read: () => Promise<void>): () => Promise<void> {
  let running = false;
  let isOutdated = false;
  let ended = Promise.resolve();

  async function run(): Promise<void> {
    running = true;
    try {
      do {
        isOutdated = false;
        await read();
      } while (isOutdated);
    } finally {
      running = false;
    }
  }

  return () => {
    if (running) isOutdated = true;
    else ended = run();
    return ended;
  };
}
