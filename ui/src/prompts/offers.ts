// Offers of all ready servers, for the pickers.

import type { ServerCatalog, Icon, ReviewMarks, Prompt, Skill } from "$lib/api/generated";
import { app } from "$lib/state/app.svelte";
import { catalogs } from "$lib/state/catalogs.svelte";
import { safeIconUrl } from "$lib/ui/icon";

import { NO_REVIEW_MARKS } from "../review/review-labels";
import { skillLists } from "../skills/skills.svelte";
import type { Offer } from "./filtered-list.svelte";

export interface PromptOffer extends Offer {
  prompt: Prompt;
}

interface Named {
  name: string;
  title: string | null;
  description: string | null;
  icons: Icon[];
  marks?: ReviewMarks;
}

function readyServers(): string[] {
  return app.servers.filter((server) => server.state.is === "ready").map((server) => server.name);
}

/** Requests the catalogs of all ready servers. Must be called in an effect. */
export function requestCatalogs(): void {
  for (const server of readyServers()) catalogs.request(server);
}

/** Returns `true` while a catalog or a list of skills is being loaded. */
export function isReadingOffers(): boolean {
  return readyServers().some(
    (server) => catalogs.get(server).loading || skillLists.get(server).loading,
  );
}

/** Requests the skills of all ready servers. Must be called in an effect. */
export function requestSkills(): void {
  for (const server of readyServers()) skillLists.request(server);
}

/** Returns the offers of one kind from all ready servers, in the order of the servers. */
export function readyServerOffers<T extends Named, O extends Offer>(
  list: (catalog: ServerCatalog) => T[],
  make: (offer: Offer, item: T) => O,
): O[] {
  return readyServers().flatMap((server) => {
    const catalog = catalogs.get(server).value;
    return (catalog ? list(catalog) : []).map((item, i) => make(offer(server, item, i), item));
  });
}

function offer(server: string, item: Named, place: number): Offer {
  const { name, title, description } = item;
  const words = [title ?? name, name, server, description ?? ""];
  return {
    id: `${place} ${server}`,
    words,
    server,
    name,
    title,
    description,
    icon: safeIconUrl(item.icons),
    marks: item.marks ?? NO_REVIEW_MARKS,
  };
}

/** Returns the skills of all ready servers, in the order of the servers. */
export function skillOffers<O extends Offer>(make: (offer: Offer, skill: Skill) => O): O[] {
  return readyServers().flatMap((server) =>
    (skillLists.get(server).value?.skills ?? []).map((skill, i) =>
      make(offer(server, { ...skill, title: null, icons: [] }, i), skill),
    ),
  );
}

export function promptOffers(): PromptOffer[] {
  return readyServerOffers(
    (catalog) => catalog.prompts,
    (offer, prompt) => ({ ...offer, prompt }),
  );
}
