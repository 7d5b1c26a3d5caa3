// What of a server nobody has reviewed, for the badge beside its name.
import type { UnreviewedCounts } from "$lib/api/generated";

import { m } from "../paraglide/messages";

/** In words, and how urgent it is: what changed since it was reviewed may be an attack, what is new is what every server begins with. */
export function unreviewedBadge({ new: fresh, changed }: UnreviewedCounts): {
  text: string;
  short: string;
  kind: "warn" | "plain";
} {
  const texts = [
    changed > 0 ? m.review_badge_changed({ count: changed }) : null,
    fresh > 0 ? m.review_badge_new({ count: fresh }) : null,
  ];
  return {
    text: texts.filter((text) => text !== null).join(" "),
    short:
      changed > 0
        ? m.review_badge_changed_short({ count: changed })
        : m.review_badge_new_short({ count: fresh }),
    kind: changed > 0 ? "warn" : "plain",
  };
}
