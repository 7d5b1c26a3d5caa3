// Report of the document that checks, from inside the frame of an app, that the app is isolated from the page.

/** Maximum number of names that are displayed. */
const MAX_NAMES = 20;
/** Maximum number of characters of a name. */
const MAX_NAME = 100;

/** Returns the names of the objects that the frame could reach, or `null` if the message is not a report of the self-test. */
export function reachableNames(message: unknown): string[] | null {
  if (typeof message !== "object" || message === null) return null;
  const { drawbridge, reachable } = message as { drawbridge?: unknown; reachable?: unknown };
  if (drawbridge !== "self-test" || !Array.isArray(reachable)) return null;
  return reachable.slice(0, MAX_NAMES).map((name) => String(name).slice(0, MAX_NAME));
}
