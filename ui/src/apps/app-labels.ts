// Labels of sources and ends of apps.
import type { AppSource, AppSourceReach, AppSourceUse } from "$lib/api/generated";
import { visibleText } from "$lib/format/text-safety";
import { locale } from "$lib/state/locale.svelte";

import { m } from "../paraglide/messages";
import type { AppEnd } from "./app-session.svelte";

export const USE_LABELS: Record<AppSourceUse, () => string> = {
  connect: m.apps_use_connect,
  resource: m.apps_use_resource,
  frame: m.apps_use_frame,
  base_uri: m.apps_use_base_uri,
};

/** Warnings about what an origin can reach, or `null` for the internet. */
export const REACH_WARNINGS: Record<AppSourceReach, (() => string) | null> = {
  internet: null,
  private_network: m.apps_reach_private,
  loopback: m.apps_reach_loopback,
  every_host: m.apps_reach_every,
};

/** Returns the name of an origin, which is `*` for every host. */
export function originName({ origin, reach }: AppSource): string {
  return reach === "every_host" ? m.apps_every_host() : visibleText(origin);
}

/** Returns the uses that occur in the sources, each with its sources, in a fixed order. */
export function sourcesByUse(sources: readonly AppSource[]): [AppSourceUse, AppSource[]][] {
  const uses = Object.keys(USE_LABELS) as AppSourceUse[];
  const groups = uses.map((use): [AppSourceUse, AppSource[]] => [
    use,
    sources.filter(({ usedAs }) => usedAs === use),
  ]);
  return groups.filter(([, list]) => list.length > 0);
}

/** Returns the reason for the end of an app, or `null` if the user or the app closed it. */
export function endReason(end: AppEnd): string | null {
  switch (end.is) {
    case "closed":
      return null;
    case "removed":
      return m.apps_end_removed();
    case "navigated":
      return m.apps_end_navigated();
    case "silent":
      return m.apps_end_silent();
    case "events_lost":
      return m.apps_end_events_lost();
    case "reachable": {
      const names = new Intl.ListFormat(locale()).format(end.names.map((n) => visibleText(n)));
      return m.apps_end_reachable({ names });
    }
  }
}
