// Determines whether a token's audience is wider than the server.

function pathOf(address: string): { origin: string; path: string } | null {
  if (!URL.canParse(address)) return null;
  const { origin, pathname } = new URL(address);
  return { origin, path: pathname.replace(/\/+$/, "") };
}

/**
 * Returns the part of the resource that exceeds the server's address: its origin and path. `null` if the resource is no
 * wider than the address.
 */
export function widerAudience(resource: string, server: string): string | null {
  const above = pathOf(resource);
  const at = pathOf(server);
  const isWider = above !== null && at !== null && above.path.length < at.path.length;
  return isWider ? above.origin + above.path : null;
}
