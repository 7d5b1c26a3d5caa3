// Consent requests: each payload that needs the user's decision before it is sent.

import type { ConsentRequest, ConsentRequestBody } from "$lib/api/generated";
import { registerPageState } from "$lib/page-state";
import { platform } from "$lib/platform";
import { app } from "$lib/state/app.svelte";
import { failures } from "$lib/state/failures.svelte";

import { ConsentController } from "./consent-controller.svelte";
import { AsideRequests } from "./consent-queue.svelte";
import { inlinePlacement } from "./inline-placement.svelte";
import { isShownHere, requestsElsewhere } from "./request-place";
import { holdsBack } from "./user-acts";

export { conversationOf, requestsElsewhere } from "./request-place";
export { inlinePlacement, type ConversationCards } from "./inline-placement.svelte";

/** Requests of both controllers that were put aside. */
let aside: AsideRequests;
registerPageState(() => (aside = new AsideRequests(() => app.consentRequests)));

/** Controller of the requests that are rendered in the open conversation. */
export let inlineController: ConsentController;
registerPageState(() => {
  inlineController = new ConsentController(
    () => app.consentRequests.filter((one) => isShownHere(one) && inlinePlacement.accepts(one)),
    { inline: true, aside },
  );
});

/** Controller of all other requests. The dialog renders one of them at a time. */
export let dialogController: ConsentController;
registerPageState(() => {
  dialogController = new ConsentController(
    () => app.consentRequests.filter((one) => isShownHere(one) && !inlinePlacement.accepts(one)),
    {
      aside,
      holdsBack,
      others: {
        get open() {
          return inlineController.queue.open;
        },
        show: (id) => {
          const call = inlineController.queue.open.find((one) => one.id === id)?.call;
          inlineController.queue.show(id);
          if (call !== undefined) inlinePlacement.cards?.reveal(call);
        },
        markAnswered: (requests) => {
          for (const request of requests) inlineController.queue.markAnswered(request);
        },
      },
    },
  );
});

/**
 * Shows a request, or the list of all requests if this one is closed. A request that another window shows is shown
 * there.
 */
export function showConsent(id: string): void {
  const isElsewhere = requestsElsewhere().some(({ requests }) => requests.some((r) => r.id === id));
  if (isElsewhere) void showElsewhere(id);
  else if (dialogController.pending.some((request) => request.id === id)) dialogController.show(id);
  else openConsentQueue();
}

/** Returns the requests that were not shown by themselves, because the user was in a text field. */
export function heldRequests(): ConsentRequest[] {
  return dialogController.queue.held;
}

/** Shows a request if it is the only one of these. Otherwise opens the list of all pending requests. */
function showOnly(requests: readonly ConsentRequest[]): void {
  const [only, ...others] = requests;
  if (only === undefined || others.length > 0) openConsentQueue();
  else showConsent(only.id);
}

/** Shows the request that a call waits for, or the list of all requests if it waits for several. */
export function showConsentOfCall(call: { id: string; server: string }): void {
  const own = app.consentRequests.filter((request) => request.call === call.id);
  // A server does not always name the call for which it sends a request.
  const ofNoCall = app.consentRequestsOf(call.server).filter((request) => !request.call);
  showOnly(own.length > 0 ? own : ofNoCall);
}

/** Shows the request of a server of one of these kinds, or the list of all requests if there are several. */
export function showConsentOfServer(server: string, kinds: ConsentRequestBody["kind"][]): void {
  showOnly(app.consentRequestsOf(server).filter(({ body }) => kinds.includes(body.kind)));
}

/**
 * Shows the pending request if there is only one, in any window, and no server is muted. Otherwise opens the list of all
 * requests and muted servers.
 */
export function openApprovals(): void {
  const { pending } = dialogController;
  const hasOthers = requestsElsewhere().length > 0 || app.servers.some(({ muted }) => muted);
  if (pending.length === 1 && !hasOthers) showOnly(pending);
  else openConsentQueue();
}

/** Shows a request in the other window that shows it. */
export async function showElsewhere(id: string): Promise<void> {
  try {
    await platform().showRequestElsewhere(id);
  } catch (cause) {
    failures.add(cause);
  }
}

/** Returns `true` if the dialog is open, with a request or the list. */
export function isConsentOpen(): boolean {
  return dialogController.queue.isListOpen || dialogController.request !== null;
}

/**
 * Returns `true` while a consent request waits for a decision and was not put aside, or while one or the list of
 * requests is displayed.
 */
export function isConsentPending(): boolean {
  return dialogController.pending.some((one) => !aside.has(one)) || isConsentDisplayed();
}

/** Returns `true` while a consent request is displayed, in the dialog or in the open conversation. */
export function isConsentDisplayed(): boolean {
  return isConsentOpen() || inlineController.showsTurn || inlineController.request !== null;
}

/** Opens the list of all pending requests. */
export function openConsentQueue(): void {
  dialogController.queue.isListOpen = true;
}
