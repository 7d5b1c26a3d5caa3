// The questions: what needs the user's decision before anything crosses.

import { pageState } from "$lib/page-state";
import { app } from "$lib/state/app.svelte";

import { Front } from "./consent-controller.svelte";
import { places } from "./inline-placement.svelte";

export { places, type Place } from "./inline-placement.svelte";

/** Those that are drawn in the conversation that is open. */
export let placed: Front;
pageState(() => {
  placed = new Front(() => app.questions.filter((one) => places.takes(one)), { inPlace: true });
});

/** All others, one of which is drawn over everything. */
export let front: Front;
pageState(() => {
  front = new Front(() => app.questions.filter((one) => !places.takes(one)), {
    elsewhere: {
      get open() {
        return placed.queue.open;
      },
      show: (id) => {
        const call = placed.queue.open.find((one) => one.id === id)?.call;
        placed.queue.show(id);
        if (call !== undefined) places.open?.reveal(call);
      },
    },
  });
});

/** Brings a question to the front; lists all that wait if it is gone. */
export function showQuestion(id: string): void {
  if (front.waiting.some((question) => question.id === id)) front.show(id);
  else openQueue();
}

/** Whether a question, or the list of all, is drawn over everything. */
export function isQuestionInFront(): boolean {
  return front.queue.listed || front.question !== null;
}

/** Lists everything that waits. */
export function openQueue(): void {
  front.queue.listed = true;
}
