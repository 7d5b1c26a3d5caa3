// Context that a shown app offers for the model, as a context item of the composer.
import { visibleText } from "$lib/format/text-safety";

import { contextItemsOf } from "../conversation/context-items.svelte";
import { m } from "../paraglide/messages";
import type { AppSubject } from "./app-subject";

/** Returns the name of the context of a tool's app. */
export function contextName(tool: string): string {
  return m.apps_context_name({ tool: visibleText(tool) });
}

/** Replaces the context of a view that is inserted with the next message. An empty text removes it. */
export function offerContext(subject: AppSubject, view: string, text: string): void {
  const { server, tool, uri, conversation } = subject;
  if (conversation === null) return;
  if (text === "") {
    withdrawContext(subject, view);
    return;
  }
  const items = contextItemsOf(conversation);
  // An unchanged item must not delay the next message.
  const shown = items.all.find((one) => one.view === view)?.items[0]?.body;
  if (shown?.kind === "attachment" && shown.contents[0]?.text === text) return;
  const name = contextName(tool);
  const contents = [{ uri, mimeType: "text/plain", text, blob: null }];
  items.replaceFrom(view, {
    ...{ kind: "app", name, server },
    items: [
      {
        id: crypto.randomUUID(),
        at: Date.now(),
        body: { kind: "attachment", server, uri, name, contents },
      },
    ],
  });
}

/** Removes the context of a view. */
export function withdrawContext({ conversation }: AppSubject, view: string): void {
  if (conversation !== null) contextItemsOf(conversation).removeFrom(view);
}
