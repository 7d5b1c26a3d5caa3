// Remembers the model that was used last, in the storage of the web view.
import type { ModelRef } from "$lib/api/generated";

const KEY = "last model";

/** Returns the model that was used last, or `null` if none is known. Its provider may no longer offer it. */
export function lastModel(): ModelRef | null {
  try {
    const stored = JSON.parse(localStorage.getItem(KEY) ?? "null") as Partial<ModelRef> | null;
    const { provider, model } = stored ?? {};
    return typeof provider === "string" && typeof model === "string" ? { provider, model } : null;
  } catch {
    return null;
  }
}

export function rememberModel({ provider, model }: ModelRef): void {
  try {
    localStorage.setItem(KEY, JSON.stringify({ provider, model }));
  } catch {
    // Without storage, a new conversation gets the model of the previous one.
  }
}
