// What the desktop shell tells the page.
import { pageState } from "$lib/page-state";
import { platform, type ShellEvent } from "$lib/platform";

import { openings } from "../installs/openings.svelte";
import { appUpdate } from "../settings/app-update.svelte";

import { openConsentQueue, showConsent } from "./views";

class Closing {
  /** How many servers run while the user is asked what closing the window does; 0 while nothing is asked. */
  servers = $state(0);
}

export let closing: Closing;
pageState(() => (closing = new Closing()));

/** Begins to listen to the shell. */
export function followShell(): void {
  // Without a shell that tells anything, closing the window quits.
  void platform()
    .listenShell(receive)
    // A check at the start may have ended before anybody listened.
    .then(() => appUpdate.read())
    .catch(() => undefined);
}

function receive(event: ShellEvent): void {
  if (event.type === "closing_asked") {
    // One that is open is told again, as the shell wants to know that it is shown.
    if (closing.servers > 0) platform().closingShown();
    closing.servers = event.servers;
  } else if (event.type === "opened") openings.receive(event.id, event.opening);
  else if (event.type === "bundles_over") openings.over = event.count;
  else if (event.type === "updates_changed") appUpdate.report = event.report;
  else if (event.id === null) openConsentQueue();
  else showConsent(event.id);
}
