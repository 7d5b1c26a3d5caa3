// The questions: what needs the user's decision before anything crosses.

import { pageState } from "$lib/page-state";
import { app } from "$lib/state/app.svelte";

import { ConsentController } from "./consent-controller.svelte";
import { inlinePlacement } from "./inline-placement.svelte";

export { inlinePlacement, type ConversationCards } from "./inline-placement.svelte";

/** Those that are drawn in the conversation that is open. */
export let inlineController: ConsentController;
pageState(() => {
  inlineController = new ConsentController(
    () => app.consentRequests.filter((one) => inlinePlacement.accepts(one)),
    { inline: true },
  );
});

/** All others, one of which is drawn over everything. */
export let dialogController: ConsentController;
pageState(() => {
  dialogController = new ConsentController(
    () => app.consentRequests.filter((one) => !inlinePlacement.accepts(one)),
    {
      others: {
        get open() {
          return inlineController.queue.open;
        },
        show: (id) => {
          const call = inlineController.queue.open.find((one) => one.id === id)?.call;
          inlineController.queue.show(id);
          if (call !== undefined) inlinePlacement.cards?.reveal(call);
        },
      },
    },
  );
});

/** Brings a question to the front; lists all that wait if it is gone. */
export function showConsent(id: string): void {
  if (dialogController.pending.some((request) => request.id === id)) dialogController.show(id);
  else openConsentQueue();
}

/** Whether a question, or the list of all, is drawn over everything. */
export function isConsentOpen(): boolean {
  return dialogController.queue.isListOpen || dialogController.request !== null;
}

/** Lists everything that waits. */
export function openConsentQueue(): void {
  dialogController.queue.isListOpen = true;
}
