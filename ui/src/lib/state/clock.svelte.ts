// The time, for what is shown as relative. One timer for the whole page for each step.
import { createSubscriber } from "svelte/reactivity";

function ticking(step: number): () => void {
  return createSubscriber((update) => {
    const timer = setInterval(update, step);
    return () => clearInterval(timer);
  });
}

const often = ticking(1000);
const sometimes = ticking(15_000);

/** Now, in milliseconds since 1970; what reads it is drawn again from time to time. */
export function now(): number {
  sometimes();
  return Date.now();
}

/** Now, in milliseconds since 1970; what reads it is drawn again every second, so only for what counts down. */
export function everySecond(): number {
  often();
  return Date.now();
}
