// What a token is good for, where that is more than the one server.

function pathOf(address: string): { origin: string; path: string } | null {
  if (!URL.canParse(address)) return null;
  const { origin, pathname } = new URL(address);
  return { origin, path: pathname.replace(/\/+$/, "") };
}

/** The place that a resource covers with all below it; null if it is no more than the server itself. */
export function widerAudience(resource: string, server: string): string | null {
  const above = pathOf(resource);
  const at = pathOf(server);
  const isWider = above !== null && at !== null && above.path.length < at.path.length;
  return isWider ? above.origin + above.path : null;
}
