// What became of the secret values of a server's headers.
import { ApiError } from "$lib/api/client";
import type { SecretStorageReport } from "$lib/api/generated";
import { failures } from "$lib/state/failures.svelte";

import { m } from "../paraglide/messages";

/** Says it when secrets could not be kept for longer than this run. */
export function reportSecretStorage({ onlyThisRun }: SecretStorageReport): void {
  if (onlyThisRun === null) return;
  failures.add(
    new ApiError({ code: "system", message: onlyThisRun }),
    m.servers_secrets_this_run(),
  );
}
