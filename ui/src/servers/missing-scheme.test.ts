import { render, screen, waitFor } from "@testing-library/svelte";
import userEvent from "@testing-library/user-event";
import { expect, test } from "vitest";

import type { Server, ServerConfig } from "$lib/api/generated";
import { startFakeHost } from "$lib/testing/fake-host";

import AddByText from "./AddByText.svelte";
import { ServerDraft } from "./draft.svelte";
import { addressMeant } from "./missing-scheme";
import { showServerTab } from "./server-page-fixtures";

const local = (command: string): ServerConfig => ({
  ...{ type: "stdio", command, args: [], env: {}, cwd: null, revision: null },
});

test("a command that looks like an address is recognized", () => {
  const cases: [string, string | null][] = [
    ["localhost:3111/mcp", "http://localhost:3111/mcp"],
    ["localhost", "http://localhost"],
    ["127.0.0.1:8080", "http://127.0.0.1:8080"],
    ["[::1]:8080/mcp", "http://[::1]:8080/mcp"],
    ["mcp.localhost/sse", "http://mcp.localhost/sse"],
    ["example.com/mcp", "https://example.com/mcp"],
    ["mcp.example.com:8443", "https://mcp.example.com:8443"],
    ["192.168.1.4/mcp", "https://192.168.1.4/mcp"],
  ];
  for (const command of [
    "npx",
    "run.sh",
    "bin/server",
    "./a.b/c",
    "/opt/a",
    "C:\\a.exe",
    "a b",
    "",
  ])
    cases.push([command, null]);
  for (const [command, url] of cases)
    expect(addressMeant(new ServerDraft("a", local(command))), command).toBe(url);
});

test("a command with settings that a remote server can't keep is no address", () => {
  const plain = local("localhost:1");
  expect(addressMeant(new ServerDraft("a", plain))).toBe("http://localhost:1");
  const others: Partial<Extract<ServerConfig, { type: "stdio" }>>[] = [
    { args: ["-y"] },
    { env: { PORT: "1" } },
    { env: { TOKEN: "${secret:TOKEN}" }, secretEnv: ["TOKEN"] },
    { cwd: "/srv" },
    { sandbox: { folders: [], network: { preset: "files_only" } } },
  ];
  for (const other of others) {
    const config = { ...plain, ...other } as ServerConfig;
    expect(addressMeant(new ServerDraft("a", config)), JSON.stringify(other)).toBeNull();
  }
  const empty = new ServerDraft("a", plain);
  empty.addEnv();
  expect(addressMeant(empty), "an empty row is no setting").toBe("http://localhost:1");
});

test("the preview of a pasted address offers it as a URL", async () => {
  const user = userEvent.setup();
  const host = await startFakeHost({
    parse_import: () => ({
      servers: [{ name: "mcp", config: local("localhost:3111/mcp"), notes: [], usable: true }],
      problem: null,
    }),
    add_server: () => ({ onlyThisRun: null }),
  });
  render(AddByText);
  await user.click(screen.getByRole("textbox"));
  await user.paste("localhost:3111/mcp");
  await screen.findByText(/Did you mean http:\/\/localhost:3111\/mcp\?/);
  await user.click(screen.getByRole("button", { name: "Use this address" }));
  await user.click(screen.getByRole("button", { name: /^Add/ }));
  await waitFor(() =>
    expect(host.requests("add_server")).toMatchObject([
      { name: "mcp", config: { type: "http", url: "http://localhost:3111/mcp" } },
    ]),
  );
});

const notFound: Server["state"] = {
  is: "failed",
  reason: "command_not_found",
  ...{ message: "not found", stderr: [], hint: null, searchedFolders: ["/bin"] },
};

test("a failed start offers the address", async () => {
  const user = userEvent.setup();
  const host = await showServerTab(
    "overview",
    { config: local("localhost:3111/mcp"), state: notFound },
    { update_server: () => ({ onlyThisRun: null }) },
  );
  await user.click(await screen.findByRole("button", { name: "Use this address" }));
  expect(host.requests("update_server")).toMatchObject([
    { server: "files", name: "files", config: { type: "http", url: "http://localhost:3111/mcp" } },
  ]);
});

test("a failed start does not offer to drop the variables of the server", async () => {
  const config = { ...local("localhost:3111/mcp"), env: { PORT: "1" } } as ServerConfig;
  await showServerTab("overview", { config, state: notFound });
  await screen.findByText(/\/bin/);
  expect(screen.queryByRole("button", { name: "Use this address" })).toBeNull();
});
