// Badge with the number of unreviewed definitions of a server.
import type { UnreviewedCounts } from "$lib/api/generated";

import { m } from "../paraglide/messages";

/**
 * Returns the label and urgency of the badge. A change after a review may be an attack, while every server starts
 * with new definitions.
 */
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
