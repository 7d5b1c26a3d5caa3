// Client state of the desktop shell.
import { platform, type ShellEvent } from "$lib/platform";
import { windows } from "$lib/state/windows.svelte";

import { stoppedApps } from "../apps/stopped-apps.svelte";
import { storeDrafts } from "../conversation/stored-draft";
import { openings } from "../installs/openings.svelte";
import { appUpdate } from "../settings/app-update.svelte";

import { chosenView } from "./chosen-view.svelte";
import { closing } from "./closing.svelte";
import { closeConversationWindow, receiveConversationWindows } from "./conversation-windows";
import { openConsentQueue, showConsent } from "./views";
import { runWindowAction } from "./window-actions";

/** Subscribes to events of the desktop shell. */
export function followShell(): void {
  // Without a shell that sends events, closing the window quits.
  void platform()
    .listenShell(receive)
    // A check at the start may have ended before this subscription.
    .then(() => appUpdate.read())
    // No list of windows follows, so this window shows all conversations.
    .catch(() => (windows.isListReceived = true));
}

function receive(event: ShellEvent): void {
  if (event.type === "closing_asked") {
    // The shell repeats the event for an open dialog, because it waits for the report that the dialog is shown.
    if (closing.servers > 0) platform().closingShown();
    closing.servers = event.servers;
  } else if (event.type === "opened") openings.receive(event.id, event.opening);
  else if (event.type === "bundles_over") openings.over = event.count;
  else if (event.type === "updates_changed") appUpdate.report = event.report;
  else if (event.type === "stopped_apps_changed")
    stoppedApps.receive(event.reports, event.withheld);
  else if (event.type === "conversation_windows_changed")
    receiveConversationWindows(event.conversations);
  else if (event.type === "window_closing") closeConversationWindow();
  else if (event.type === "quitting") void storeDrafts().then(() => platform().closeWindow());
  else if (event.type === "view_chosen") chosenView.receive(event.view);
  else if (event.type === "action_chosen") runWindowAction(event.action);
  else if (event.id === null) openConsentQueue();
  else showConsent(event.id);
}
