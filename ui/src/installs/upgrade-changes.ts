// Compares an installed server with another version, part by part.
import type { InstallOrigin, PreviewedServer, Sandbox, ServerOrigin } from "$lib/api/generated";

import { m } from "../paraglide/messages";
import { transportName } from "../servers/transport";

import { previewedSetupText, previewedValues, type NamedValue } from "./setup-text";
import { shortenToLine } from "./install-labels";

/** Current and new value of a property. Empty if the property is absent. */
export interface UpgradeChange {
  name: string;
  before: string | null;
  after: string | null;
}

function valueText(value: NamedValue): string {
  const words = { secret: m.installs_secret_part(), kept: m.installs_kept_part() };
  return value.parts
    .map((part) => (part.is === "secret" || part.is === "kept" ? `[${words[part.is]}]` : part.text))
    .join("");
}

function namedValues(server: PreviewedServer): Record<string, string> {
  return Object.fromEntries(
    previewedValues(server).map((value) => [value.name, valueText(value)] as const),
  );
}

/** Returns the access that a sandbox allows, one line per item. */
function sandboxText(sandbox: Sandbox | null): string {
  if (sandbox === null) return m.installs_no_sandbox();
  const folders = sandbox.folders.map(({ path, access }) => {
    const format = access === "write" ? m.servers_sandbox_write() : m.servers_sandbox_read();
    return `${format}: ${path}`;
  });
  const { network } = sandbox;
  const reached = {
    files_only: () => m.servers_sandbox_no_network(),
    named_hosts: () => (network.preset === "named_hosts" ? network.hosts.join(", ") : ""),
    full: () => m.servers_sandbox_full_network(),
  }[network.preset]();
  return [...folders, `${m.servers_sandbox_network_name()}: ${reached}`].join("\n");
}

const sandboxOf = (server: PreviewedServer) =>
  server.type === "stdio" ? sandboxText(server.sandbox) : null;

function transportOf(server: PreviewedServer): string | null {
  if (server.type === "stdio") return null;
  return transportName(server.kind === "sse" ? "http-sse" : "streamable-http");
}

const installedHash = (origin: ServerOrigin) => origin.files?.sha256 ?? null;

const offeredBundle = (origin: InstallOrigin) =>
  origin.from === "bundle" ? origin : origin.bundle;

const offeredHash = (origin: InstallOrigin) => offeredBundle(origin)?.sha256 ?? null;

/** Compares the authors of two bundle versions. Skipped for older installations, which have no recorded author. */
function authorRow(offered: InstallOrigin, installed: ServerOrigin): UpgradeChange[] {
  const [before, after] = [installed.files?.author, offeredBundle(offered)?.author];
  if (before === null && after !== undefined) return [];
  const named = (author: string | null = null) => (author === "" ? null : author);
  return [{ name: m.installs_author(), before: named(before), after: named(after) }];
}

/** Returns the properties that differ between the installed and the offered version. */
export function upgradeChanges(
  offered: InstallOrigin,
  installed: ServerOrigin,
  before: PreviewedServer,
  after: PreviewedServer,
): UpgradeChange[] {
  const { version } = offered.from === "bundle" ? offered : offered.listing;
  const [installedValues, offeredValues] = [namedValues(before), namedValues(after)];
  const names = [
    ...new Set([...Object.keys(installedValues), ...Object.keys(offeredValues)]),
  ].sort();
  const isRemote = after.type === "http";
  const rows: UpgradeChange[] = [
    { name: m.installs_version(), before: installed.version, after: version },
    ...authorRow(offered, installed),
    { name: "SHA-256", before: installedHash(installed), after: offeredHash(offered) },
    {
      name: isRemote ? m.servers_exact_url() : m.servers_exact_command(),
      before: previewedSetupText(before),
      after: previewedSetupText(after),
    },
    { name: m.servers_transport(), before: transportOf(before), after: transportOf(after) },
    ...names.map((name) => ({
      // The publisher chose the name, so it must not look like a row of the app.
      name: isRemote
        ? m.installs_change_header({ name: shortenToLine(name, 200) })
        : m.installs_change_variable({ name: shortenToLine(name, 200) }),
      before: installedValues[name] ?? null,
      after: offeredValues[name] ?? null,
    })),
    { name: m.servers_sandbox(), before: sandboxOf(before), after: sandboxOf(after) },
  ];
  return rows.filter((row) => row.before !== row.after);
}
