// Short titles of the kinds of errors.
import { toApiError } from "$lib/api/client";
import type { ErrorCode } from "$lib/api/generated";
import { locale } from "$lib/state/locale.svelte";

import { m } from "../../paraglide/messages";

export function errorTitle(code: ErrorCode): string {
  const titles: Record<ErrorCode, () => string> = {
    bad_request: m.shell_error_internal,
    not_found: m.shell_error_not_found,
    bad_name: m.shell_error_bad_name,
    config: m.shell_error_config,
    not_ready: m.shell_error_not_ready,
    no_model: m.shell_error_no_model,
    sign_in_needed: m.shell_error_sign_in_needed,
    refused: m.shell_error_refused,
    cancelled: m.shell_error_cancelled,
    timeout: m.shell_error_timeout,
    server: m.shell_error_server,
    bad_answer: m.shell_error_bad_answer,
    server_gone: m.shell_error_server_gone,
    unsupported: m.shell_error_unsupported,
    stale: m.shell_error_stale,
    invalid: m.shell_error_invalid,
    system: m.shell_error_system,
    internal: m.shell_error_internal,
  };
  return (titles[code] ?? m.shell_error_internal)();
}

/**
 * Returns an error as one line of text. The host's message is English, so in other languages the translated title of
 * its kind precedes it.
 */
export function errorText(cause: unknown): string {
  const { code, message } = toApiError(cause);
  if (message === "") return errorTitle(code);
  return locale() === "en" ? message : m.shell_error_details({ title: errorTitle(code), message });
}
