// Form data of a provider before it is saved.
import type { ModelProvider, ProviderKind, ProviderPreset, SetProvider } from "$lib/api/generated";

/** Value of the preset selection that stands for a custom address. */
export const CUSTOM_PROVIDER = "";

export interface ProviderDraft {
  id: string;
  name: string;
  kind: ProviderKind;
  url: string;
  key: string;
  silence: string;
}

/** Creates a draft from a preset, with an id that no other provider has. */
export function draftFromPreset(
  preset: ProviderPreset | undefined,
  taken: string[],
): ProviderDraft {
  const id = preset ? unusedId(preset.id, taken) : "";
  const { name = "", kind = "openai" as const, url = "" } = preset ?? {};
  return { id, name, kind, url, key: "", silence: "" };
}

/** Creates a draft from an existing provider. Its key is never sent to the page. */
export function draftFromProvider(provider: ModelProvider): ProviderDraft {
  const { id, name, kind, url, silenceSeconds } = provider;
  const silence = silenceSeconds === null ? "" : String(silenceSeconds);
  return { id, name, kind, url, key: "", silence };
}

/** Returns `id`, or `id` with the first numeric suffix that no other provider has. */
export function unusedId(id: string, taken: string[]): string {
  if (!taken.includes(id)) return id;
  let number = 2;
  while (taken.includes(`${id}-${number}`)) number++;
  return `${id}-${number}`;
}

/** Derives an unused provider id from a name. */
export function idFromName(name: string, taken: string[]): string {
  const id = name
    .toLowerCase()
    .replace(/[^a-z0-9._-]+/g, "-")
    .replace(/^-+|-+$/g, "")
    .slice(0, 60);
  return unusedId(id || "provider", taken);
}

/** Returns `true` if requests to this address can be read by others: over HTTP, and not to this computer. */
export function isUnencrypted(url: string): boolean {
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

/** Returns the settings to save. `was` is the provider before the change, whose conversions are kept. */
export function settingsFromDraft(draft: ProviderDraft, was?: ModelProvider): SetProvider {
  const silence = Number(draft.silence);
  return {
    id: draft.id.trim(),
    name: draft.name.trim() || draft.id.trim(),
    kind: draft.kind,
    url: draft.url.trim(),
    silenceSeconds: draft.silence.trim() !== "" && Number.isSafeInteger(silence) ? silence : null,
    conversions: (was?.losses ?? []).map(({ feature, conversion }) => ({ feature, conversion })),
  };
}
