// What the host has, read one answer at a time, so that none overtakes a newer one.

/**
 * A function that may be called at any time. `read` never runs beside itself: when asked for meanwhile it runs once more, however often
 * it was asked for. Every caller waits for the end of all that.
 */
export function oneAtATime(read: () => Promise<void>): () => Promise<void> {
  let running = false;
  let again = false;
  let ended = Promise.resolve();

  async function run(): Promise<void> {
    running = true;
    try {
      do {
        again = false;
        await read();
      } while (again);
    } finally {
      running = false;
    }
  }

  return () => {
    if (running) again = true;
    else ended = run();
    return ended;
  };
}
