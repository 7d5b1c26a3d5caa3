// Patterns for the hosts that a sandboxed server may reach. Follows the rules of the Rust host.

/** Matches characters of URLs that hosts can't contain. */
const FOREIGN = /[\s/@?#\\%]/;
const MAX_PORT = 65_535;
const MAX_CHARACTERS = 300;

/**
 * Returns `true` for a valid pattern: `example.com`, `*.example.com`, `10.0.0.7` or `[::1]`, each with an optional
 * port.
 */
export function isHostPattern(text: string): boolean {
  const trimmed = text.trim();
  if (trimmed === "" || trimmed.length > MAX_CHARACTERS || FOREIGN.test(trimmed)) return false;
  // An IPv6 address without brackets has no port.
  if ((trimmed.match(/:/g)?.length ?? 0) > 1 && !trimmed.startsWith("[")) {
    return hostname(`[${trimmed}]`) !== null;
  }
  const [, host = "", port] = /^(.*?)(?::([^:\]]*))?$/.exec(trimmed) ?? [];
  if (port !== undefined && !(/^\d+$/.test(port) && isPort(Number(port)))) return false;
  if (!host.startsWith("*.")) return !host.includes("*") && hostname(host) !== null;
  const parent = hostname(host.slice(2));
  // A wildcard below a top-level domain would match nearly everything.
  return (
    !host.slice(1).includes("*") && parent !== null && parent.includes(".") && !isAddress(parent)
  );
}

function isPort(port: number): boolean {
  return port >= 1 && port <= MAX_PORT;
}

/** Normalizes a host like the URL parser, or returns `null` if it is invalid. */
function hostname(host: string): string | null {
  if (host === "" || !URL.canParse(`http://${host}/`)) return null;
  const name = new URL(`http://${host}/`).hostname.replace(/\.$/, "");
  return name === "" || name.split(".").includes("") ? null : name;
}

function isAddress(name: string): boolean {
  return name.startsWith("[") || /^\d+(\.\d+){3}$/.test(name);
}
