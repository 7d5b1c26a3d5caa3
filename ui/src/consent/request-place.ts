// Decides in which window a consent request is shown. Each one is shown in exactly one window: requests of a
// conversation in the window of its own, if it has one, and all others in the main window.
import type { ConsentRequest } from "$lib/api/generated";
import { app } from "$lib/state/app.svelte";
import { windows } from "$lib/state/windows.svelte";

/** Returns the conversation that led to a request, or `null` if none did. */
export function conversationOf({ origin }: ConsentRequest): string | null {
  return "conversation" in origin ? origin.conversation : null;
}

/** Returns `true` if this window shows the request. */
export function isShownHere(request: ConsentRequest): boolean {
  const conversation = conversationOf(request);
  if (windows.own !== null) return conversation === windows.own;
  return conversation === null || !windows.isElsewhere(conversation);
}

export interface RequestsElsewhere {
  /** Conversation of the other window, or `null` for the main window. */
  conversation: string | null;
  requests: ConsentRequest[];
}

/** Returns the requests that other windows show, by window. */
export function requestsElsewhere(): RequestsElsewhere[] {
  const groups: RequestsElsewhere[] = [];
  for (const request of app.consentRequests) {
    if (isShownHere(request)) continue;
    const origin = conversationOf(request);
    const conversation = origin !== null && windows.isElsewhere(origin) ? origin : null;
    const group = groups.find((one) => one.conversation === conversation);
    if (group) group.requests.push(request);
    else groups.push({ conversation, requests: [request] });
  }
  return groups;
}
