// Reactive current time. Each interval has one timer for the whole page.
import { createSubscriber } from "svelte/reactivity";

function createClockSubscriber(intervalMs: number): () => void {
  return createSubscriber((update) => {
    const timer = setInterval(update, intervalMs);
    return () => clearInterval(timer);
  });
}

const subscribeToEverySecond = createClockSubscriber(1000);
const subscribeToEvery15Seconds = createClockSubscriber(15_000);

/** Returns the current time in milliseconds since 1970. Updated every 15 seconds, for relative times. */
export function currentTime(): number {
  subscribeToEvery15Seconds();
  return Date.now();
}

/** Returns the current time in milliseconds since 1970. Updated every second, for countdowns only. */
export function currentSecond(): number {
  subscribeToEverySecond();
  return Date.now();
}
