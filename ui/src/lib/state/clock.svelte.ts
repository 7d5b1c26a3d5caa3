// The time, for what is shown as relative. One timer for the whole page.
import { createSubscriber } from "svelte/reactivity";

const STEP_MS = 15_000;

const subscribe = createSubscriber((update) => {
  const timer = setInterval(update, STEP_MS);
  return () => clearInterval(timer);
});

/** Now, in milliseconds since 1970; what reads it is drawn again from time to time. */
export function now(): number {
  subscribe();
  return Date.now();
}
