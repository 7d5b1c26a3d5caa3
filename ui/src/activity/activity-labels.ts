// Labels of the kinds and directions of activity entries.

import type { ActivityEntry, ActivityKind } from "$lib/api/generated";

import { m } from "../paraglide/messages";

import type { ActivityGroup } from "./rows";

/** Returns the translated label of the kind of an entry. */
export function activityKindLabel(kind: ActivityKind): string {
  const texts: Record<ActivityKind, () => string> = {
    request: m.activity_kind_request,
    response: m.activity_kind_response,
    error: m.activity_kind_error,
    notification: m.activity_kind_notification,
    batch: m.activity_kind_batch,
    invalid: m.activity_kind_invalid,
    stderr: m.activity_kind_stderr,
    log: m.activity_kind_log,
    state: m.activity_kind_state,
  };
  return texts[kind]();
}

/** Returns the translated label of a group of entry kinds. */
export function activityGroupLabel(group: ActivityGroup): string {
  const texts: Record<ActivityGroup, () => string> = {
    messages: m.activity_group_messages,
    log: m.activity_group_log,
    stderr: m.activity_group_stderr,
    state: m.activity_group_state,
    invalid: m.activity_group_invalid,
  };
  return texts[group]();
}

/**
 * Returns the translated direction of a message: to or from the server. `null` for entries about the process, which
 * Drawbridge adds itself.
 */
export function directionLabel(entry: ActivityEntry): string | null {
  if (entry.kind === "state") return null;
  return entry.sent ? m.activity_sent() : m.activity_received();
}
