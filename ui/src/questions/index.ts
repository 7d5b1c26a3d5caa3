// The questions: what needs the user's decision before anything crosses.

import { app } from "$lib/state/app.svelte";

import { Front } from "./front.svelte";

/** The one queue of the window. */
export const front = new Front(() => app.questions);

/** Lists everything that waits. */
export function openQueue(): void {
  front.queue.listed = true;
}
