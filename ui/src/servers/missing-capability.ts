// What a server can't do because the user has turned off what it needs of them.
import { toApiError } from "$lib/api/client";
import { router } from "$lib/state/router.svelte";

import { m } from "../paraglide/messages";

/** `MissingRequiredClientCapability` (`schema/2026-07-28`). */
const MISSING_CAPABILITY = -32021;

/** A cause in words, and the button that leads on. */
export interface Explained {
  title: string;
  text: string;
  action: { label: string; run: () => void };
}

/** Explains an error by which a server asks for sampling; nothing for every other. Of what servers ask for, only that can be off. */
export function missingCapability(cause: unknown, server: string): Explained | null {
  const { rpcCode, rpcData } = (toApiError(cause).data ?? {}) as {
    rpcCode?: unknown;
    rpcData?: { requiredCapabilities?: unknown } | null;
  };
  const required = rpcData?.requiredCapabilities;
  if (rpcCode !== MISSING_CAPABILITY || typeof required !== "object" || required === null) {
    return null;
  }
  if (!Object.hasOwn(required, "sampling")) return null;
  const { tools } = (required as { sampling: { tools?: unknown } | null }).sampling ?? {};
  return {
    title:
      tools === undefined
        ? m.sampling_missing_title({ server })
        : m.sampling_missing_tools_title({ server }),
    text: m.sampling_missing_text({ server }),
    action: {
      label: m.sampling_missing_open(),
      run: () => router.server(server, "permissions"),
    },
  };
}
