// Actions that are available by shortcut, palette or button.
import { call, toApiError } from "$lib/api/client";
import type { ModelRef, Settings, TrustDuration } from "$lib/api/generated";
import { app } from "$lib/state/app.svelte";
import { failures } from "$lib/state/failures.svelte";
import { router } from "$lib/state/router.svelte";
import { unsavedSettings, type StartCommand } from "$lib/state/unsaved-settings.svelte";
import { windows } from "$lib/state/windows.svelte";

import { createConversation } from "../conversation/create-conversation";
import { rememberModel } from "../conversation/last-model";

import { m } from "../paraglide/messages";

import { runInMainWindow } from "./main-actions";

/** Creates a conversation and opens it, in the main window. */
export async function newConversation(): Promise<void> {
  if (windows.own !== null) return runInMainWindow("new-conversation");
  try {
    const id = await createConversation(m.shell_new_conversation_title());
    router.go({ at: "conversation", id });
  } catch (cause) {
    failures.add(cause);
  }
}

/** Creates a conversation with this model and opens it. */
export async function newConversationWithModel(model: ModelRef): Promise<void> {
  try {
    const id = await createConversation(m.shell_new_conversation_title(), { model });
    router.go({ at: "conversation", id });
  } catch (cause) {
    failures.add(cause);
  }
}

/** Changes the model of a conversation. */
export async function setConversationModel(conversation: string, model: ModelRef): Promise<void> {
  try {
    const { settings } = await call("read_conversation", { conversation });
    await call("set_conversation", { conversation, settings: { ...settings, model } });
    rememberModel(model);
  } catch (cause) {
    failures.add(cause);
  }
}

type ServerCommand = StartCommand | "stop_server" | "reconnect_server" | "unmute_server";

/**
 * Starts, stops or restarts a server. If the user denies consent, no failure is shown. Changed settings that are not
 * saved would not be used by a start, so the user is asked first.
 */
export async function serverCommand(command: ServerCommand, server: string): Promise<void> {
  const starts = command === "start_server" || command === "restart_server";
  if (starts && unsavedSettings.ask(command, server)) return;
  await sendServerCommand(command, server);
}

/** Sends a command of `serverCommand` without asking about changed settings. */
export async function sendServerCommand(command: ServerCommand, server: string): Promise<void> {
  try {
    await call(command, { server });
  } catch (cause) {
    const { code } = toApiError(cause);
    const shownByServer = app.server(server)?.state.is === "failed";
    if (code !== "refused" && code !== "cancelled" && !shownByServer) failures.add(cause);
  }
}

/** Sets how long all tools of a server may be called without consent. */
export async function setTrust(server: string, trust: TrustDuration): Promise<void> {
  try {
    await call("set_trust", { server, trust });
  } catch (cause) {
    failures.add(cause);
  }
}

/** Stores that the user has closed the welcome view, so that it is not shown again. */
export async function closeWelcome(): Promise<void> {
  if (!app.settings.welcomeDone) await changeSettings({ welcomeDone: true });
}

export async function changeSettings(change: Partial<Settings>): Promise<void> {
  try {
    await app.changeSettings(change);
  } catch (cause) {
    failures.add(cause);
  }
}
