// The sandbox of a server in words, for the comparison with an approved one.
import { m } from "../paraglide/messages";

interface StoredSandbox {
  folders: { path: string; access: string }[];
  /** `true` for the whole network, `false` for none, otherwise the permitted hosts. */
  network: boolean | string[];
}

/**
 * Describes a sandbox as the host compares it (`SandboxConfig::to_json`): its folders and its network, one line each.
 * Returns the text unchanged if it is no such JSON.
 */
export function sandboxText(json: string): string {
  let value: unknown;
  try {
    value = JSON.parse(json);
  } catch {
    return json;
  }
  if (value === null) return m.review_sandbox_none();
  if (!isSandbox(value)) return json;
  const { folders, network } = value;
  const list = (name: string, access: string) => {
    const paths = folders.filter((folder) => folder.access === access).map(({ path }) => path);
    return `${name}: ${paths.length === 0 ? m.review_nothing() : paths.join(", ")}`;
  };
  const isOfHosts = typeof network !== "boolean";
  const reached = isOfHosts
    ? network.join(", ")
    : network
      ? m.servers_sandbox_full_network()
      : m.servers_sandbox_no_network();
  return [
    list(m.review_sandbox_changes(), "write"),
    list(m.servers_sandbox_reads(), "read"),
    `${m.servers_sandbox_network_name()}: ${reached}`,
  ].join("\n");
}

function isSandbox(value: unknown): value is StoredSandbox {
  const { folders, network } = (value ?? {}) as Partial<Record<keyof StoredSandbox, unknown>>;
  return (
    Array.isArray(folders) &&
    folders.every(
      (folder: unknown) =>
        typeof folder === "object" &&
        folder !== null &&
        "path" in folder &&
        typeof folder.path === "string" &&
        "access" in folder &&
        (folder.access === "read" || folder.access === "write"),
    ) &&
    (typeof network === "boolean" ||
      (Array.isArray(network) && network.every((host) => typeof host === "string")))
  );
}
