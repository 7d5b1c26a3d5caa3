// Notices about the storage of a server's secrets.
import { ApiError } from "$lib/api/client";
import type { SecretStorageReport } from "$lib/api/generated";
import { failures } from "$lib/state/failures.svelte";

import { m } from "../paraglide/messages";

/** Shows a notice if the system's keychain could not store secrets, so that they are lost when the app ends. */
export function reportSecretStorage({ onlyThisRun }: SecretStorageReport): void {
  if (onlyThisRun === null) return;
  failures.add(
    new ApiError({ code: "system", message: onlyThisRun }),
    m.servers_secrets_this_run(),
  );
}
