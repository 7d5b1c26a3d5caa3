// Sign-in actions that are available in several places.
import { call } from "$lib/api/client";
import { failures } from "$lib/state/failures.svelte";
import { router } from "$lib/state/router.svelte";

/** Starts a sign-in and opens its progress. Its consent request is added to the queue. */
export async function signIn(server: string): Promise<void> {
  router.server(server, "sign-in");
  try {
    await call("sign_in", { server });
  } catch (cause) {
    failures.add(cause);
  }
}
