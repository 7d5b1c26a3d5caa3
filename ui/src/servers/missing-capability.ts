// Explains errors of servers that require a client capability which the user disabled.
import { toApiError } from "$lib/api/client";
import { router } from "$lib/state/router.svelte";

import { m } from "../paraglide/messages";

/** Code of the error `MissingRequiredClientCapability` (`schema/2026-07-28`). */
const MISSING_CAPABILITY = -32021;

/** Text with the cause of an error, and the button that opens the setting. */
export interface CapabilityExplanation {
  title: string;
  text: string;
  action: { label: string; run: () => void };
}

/**
 * Explains an error of a server that requires sampling. Returns `null` for other errors, because the user can disable
 * no other capability.
 */
export function explainMissingCapability(
  cause: unknown,
  server: string,
): CapabilityExplanation | null {
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
