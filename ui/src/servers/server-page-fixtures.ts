// Fixtures that open the page of a server.
import { render, screen, waitFor } from "@testing-library/svelte";
import { expect } from "vitest";

import type { Server } from "$lib/api/generated";
import type { ServerTab } from "$lib/state/route";
import { router } from "$lib/state/router.svelte";
import { sampleServer, startFakeHost } from "$lib/testing/fake-host";

import { serverTabs } from "../shell/views";

import { samplingReport } from "./sampling-fixtures";
import ServerPage from "./ServerPage.svelte";

// Preloaded, so that the tests do not wait for it.
await Promise.all(Object.values(serverTabs).map((load) => load()));

const NO_PINS = {
  ...{
    server: "files",
    identity: [],
    identitySince: null,
    issuer: null,
    tools: [],
    prompts: [],
    apps: [],
  },
};

/** Opens a tab of the page of the server `files`. */
export async function showServerTab(
  tab: ServerTab,
  changes: Partial<Server> = {},
  answers: Parameters<typeof startFakeHost>[0] = {},
) {
  const host = await startFakeHost(
    {
      read_sampling: () => samplingReport(),
      list_reviewed_definitions: () => NO_PINS,
      list_project_files: () => ({ files: [] }),
      ...answers,
    },
    {
      servers: [sampleServer(changes), sampleServer({ name: "git" })],
    },
  );
  router.go({ at: "server", name: "files", tab });
  render(ServerPage, { name: "files", tab, item: undefined });
  await waitFor(() => expect(screen.getByRole("tabpanel").childElementCount, "loaded").not.toBe(0));
  return host;
}

/** Fields of a server with a URL. */
export const remoteServerFields: Partial<Server> = {
  config: {
    ...{ type: "http", url: "https://mcp.example.com/v1", kind: null, revision: "2025-06-18" },
    auth: null,
    headers: [{ name: "Authorization", value: null, secret: true }],
  },
  commandLine: "https://mcp.example.com/v1",
  url: {
    ...{ url: "https://mcp.example.com/v1", before: "https://mcp.", domain: "example.com" },
    ...{ after: "/v1", asciiHost: null, warnings: [], openable: true },
  },
  transport: "streamable-http",
  detection: "server/discover answered 404, initialize answered",
  pid: null,
};
