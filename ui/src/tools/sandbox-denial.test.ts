import { render, screen } from "@testing-library/svelte";
import userEvent from "@testing-library/user-event";
import { expect, test } from "vitest";

import type { Sandbox, ServerConfig, ToolResult } from "$lib/api/generated";
import { router } from "$lib/state/router.svelte";
import { sampleServer, startFakeHost } from "$lib/testing/fake-host";

import ToolResultView from "./ToolResultView.svelte";

test("an error about a file explains what the sandbox lets the server change", async () => {
  const user = userEvent.setup();
  const name = "files";
  const host = await startFakeHost({}, { servers: [] });
  const denied: ToolResult = {
    ...{ structured: null, structuredProblem: null, arguments: {}, isError: true },
    content: [{ type: "text", text: "EROFS: read-only file system, open '/home/ann/two.txt'" }],
  };
  const sandbox: Sandbox = {
    folders: [
      { path: "/home/ann/notes", access: "write" },
      { path: "/home/ann/plans", access: "read" },
    ],
    network: { preset: "files_only" },
  };
  const config: ServerConfig = {
    type: "stdio",
    ...{ command: "npx", args: [], env: {}, cwd: null, revision: null, sandbox },
  };
  host.send({
    type: "server_changed",
    server: sampleServer({ name, config }),
  });
  const view = render(ToolResultView, { result: denied, server: name });
  expect(screen.queryByText(/sandbox/), "it does not run in a sandbox").toBeNull();
  host.send({
    type: "server_changed",
    server: sampleServer({
      ...{ name, sandboxMechanism: "bubblewrap" },
      config,
    }),
  });
  expect(await screen.findByText(/runs in Drawbridge's sandbox/)).toBeInTheDocument();
  expect(screen.getByText("/home/ann/notes")).toBeInTheDocument();
  expect(screen.queryByText("/home/ann/plans"), "it can only be read").toBeNull();
  await user.click(screen.getByRole("button", { name: "Change the sandbox" }));
  expect(router.current).toEqual({ at: "server", name, tab: "settings" });
  await view.rerender({ result: { ...denied, content: [{ type: "text", text: "no such id" }] } });
  expect(screen.queryByText(/sandbox/), "other errors have other causes").toBeNull();
});
