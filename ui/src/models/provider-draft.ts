// What the user says of a provider before it is saved.
import type { ModelProvider, ProviderKind, ProviderPreset, SetProvider } from "$lib/api/generated";

/** In place of a preset: a provider by its address. */
export const OTHER = "";

export interface Draft {
  id: string;
  name: string;
  kind: ProviderKind;
  url: string;
  key: string;
  silence: string;
}

/** A draft from a preset, with an id that is not taken. */
export function draftOf(preset: ProviderPreset | undefined, taken: string[]): Draft {
  const id = preset ? free(preset.id, taken) : "";
  const { name = "", kind = "openai" as const, url = "" } = preset ?? {};
  return { id, name, kind, url, key: "", silence: "" };
}

/** A draft from a provider that there is. Its key does not come out. */
export function draftFrom(provider: ModelProvider): Draft {
  const { id, name, kind, url, silenceSeconds } = provider;
  const silence = silenceSeconds === null ? "" : String(silenceSeconds);
  return { id, name, kind, url, key: "", silence };
}

/** This id, or with the first number that makes it free. */
export function free(id: string, taken: string[]): string {
  if (!taken.includes(id)) return id;
  let number = 2;
  while (taken.includes(`${id}-${number}`)) number++;
  return `${id}-${number}`;
}

/** An id made of a name. */
export function idFrom(name: string, taken: string[]): string {
  const id = name
    .toLowerCase()
    .replace(/[^a-z0-9._-]+/g, "-")
    .replace(/^-+|-+$/g, "")
    .slice(0, 60);
  return free(id || "provider", taken);
}

/** Whether what is sent to this address could be read on the way. */
export function isReadable(url: string): boolean {
  let parsed: URL;
  try {
    parsed = new URL(url.trim());
  } catch {
    return false;
  }
  const { protocol, hostname } = parsed;
  const local =
    hostname === "localhost" || hostname === "[::1]" || /^127(\.\d+){3}$/.test(hostname);
  return protocol === "http:" && !local;
}

/** The draft as it is saved. `was` has the conversions that were chosen. */
export function settingsOf(draft: Draft, was?: ModelProvider): SetProvider {
  const silence = Number(draft.silence);
  return {
    id: draft.id.trim(),
    name: draft.name.trim() || draft.id.trim(),
    kind: draft.kind,
    url: draft.url.trim(),
    silenceSeconds: draft.silence.trim() !== "" && Number.isSafeInteger(silence) ? silence : null,
    conversions: (was?.losses ?? []).map(({ what, then }) => ({ what, then })),
  };
}
