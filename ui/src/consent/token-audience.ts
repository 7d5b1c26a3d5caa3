// Determines whether a token's audience is wider than the server.

function pathOf(address: string): { origin: string; path: string } | null {
  if (!URL.canParse(address)) return null;
  const { origin, pathname } = new URL(address);
  return { origin, path: pathname.replace(/\/+$/, "") };
}

/** Returns the origin and path that a resource covers, or `null` if they are no wider than the server's address. */
export function widerAudience(resource: string, server: string): string | null {
  const above = pathOf(resource);
  const at = pathOf(server);
  const isWider = above !== null && at !== null && above.path.length < at.path.length;
  return isWider ? above.origin + above.path : null;
}
