// Reactive current time. Each step has one timer for the whole page.
import { createSubscriber } from "svelte/reactivity";

function ticking(step: number): () => void {
  return createSubscriber((update) => {
    const timer = setInterval(update, step);
    return () => clearInterval(timer);
  });
}

const often = ticking(1000);
const sometimes = ticking(15_000);

/** Returns the current time in milliseconds since 1970. Updated at an interval that suits relative times. */
export function currentTime(): number {
  sometimes();
  return Date.now();
}

/** Returns the current time in milliseconds since 1970. Updated every second, for countdowns only. */
export function currentSecond(): number {
  often();
  return Date.now();
}
