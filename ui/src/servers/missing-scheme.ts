// Recognizes the address of a remote server that was entered as a command, without `http://`.
import type { ServerDraft } from "./draft.svelte";

/** Matches a host with an optional port and path. */
const ADDRESS = /^(\[[\da-f:]+\]|[a-z\d](?:[a-z\d.-]*[a-z\d])?)(:\d{1,5})?(\/\S*)?$/i;
const LOOPBACK = /^(?:(?:[a-z\d-]+\.)*localhost|127\.\d+\.\d+\.\d+|\[::1\])$/i;
/** Matches a host that is not the name of a folder: an IP address, or a domain with at least two labels. */
const DISTINCT_HOST = /^(?:\[.*\]|\d+\.\d+\.\d+\.\d+|(?:[a-z\d-]+\.)+[a-z]{2,})$/i;

/**
 * Returns the URL that the user may have meant by a command, or `null` if the command does not look like an address, or
 * has settings that a remote server can't keep. An address of this computer gets `http`, another one `https`.
 */
export function addressMeant(draft: ServerDraft): string | null {
  const { type, command } = draft;
  if (type === "http" || hasLocalSettings(draft)) return null;
  const [address, host, port, path] = ADDRESS.exec(command.trim()) ?? [];
  if (address === undefined || host === undefined) return null;
  const isLoopback = LOOPBACK.test(host);
  // A name without a port and path is rather a program, such as `run.sh`.
  const isAddress =
    port !== undefined || isLoopback || (path !== undefined && DISTINCT_HOST.test(host));
  return isAddress ? `${isLoopback ? "http" : "https"}://${address}` : null;
}

/** Returns `true` if the draft has settings of a local server besides its command. */
function hasLocalSettings({ args, env, cwd, sandbox }: ServerDraft): boolean {
  const hasArgument = args.some(({ value }) => value !== "");
  const hasVariable = env.some(({ name, value }) => name.trim() !== "" || value !== "");
  return hasArgument || hasVariable || cwd.trim() !== "" || sandbox.on;
}

/** Turns the draft of a local server into that of a remote one with this URL. */
export function useAddress(draft: ServerDraft, url: string): void {
  draft.type = "http";
  draft.url = url;
}
