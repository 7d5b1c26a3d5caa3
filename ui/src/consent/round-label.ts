// Counts the rounds of a call's requests, and its other pending requests.
import type { ConsentRequest } from "$lib/api/generated";

import { m } from "../paraglide/messages";

/**
 * Returns a text with the number of the current round of a call and the number of other pending requests of the same
 * call. `null` in the first round without other requests.
 */
export function roundLabel(request: ConsentRequest, all: ConsentRequest[]): string | null {
  const { origin, round } = request;
  if (origin.by !== "call") return null;
  const others = all.filter(
    (other) =>
      other.id !== request.id && other.origin.by === "call" && other.origin.call === origin.call,
  ).length;
  const words = [
    round !== null && round > 1 ? m.consent_round({ number: round }) : null,
    others > 0 ? m.consent_beside({ count: others }) : null,
  ].filter((one) => one !== null);
  return words.length > 0 ? words.join(" ") : null;
}
