import { render, screen } from "@testing-library/svelte";
import userEvent from "@testing-library/user-event";
import { beforeEach, expect, test } from "vitest";

import type { ServerCatalog, Server } from "$lib/api/generated";
import { app } from "$lib/state/app.svelte";
import { router } from "$lib/state/router.svelte";
import { axeProblems } from "$lib/testing/axe";
import { NO_EXPIRY, sampleServer, startFakeHost, type FakeHost } from "$lib/testing/fake-host";

import ResourcesTab from "./ResourcesTab.svelte";

let host: FakeHost;
let number = 0;
/** Server with a unique name for each test, because data of servers is retained. */
let server: Server;

function catalog(of: string): ServerCatalog {
  return {
    ...{ server: of, tools: [], prompts: [], notes: [], freshUntil: NO_EXPIRY },
    resources: [
      {
        ...{ uri: "demo://tide", name: "tide", title: "Tide table", description: "How high" },
        ...{ mimeType: "text/plain", size: 5, icons: [] },
      },
    ],
    templates: [
      {
        ...{
          uriTemplate: "demo://{port}/log",
          variables: ["port"],
          name: "log",
          title: "Log of a port",
        },
        ...{ description: null, mimeType: null, icons: [] },
      },
    ],
  };
}

beforeEach(async () => {
  number += 1;
  server = sampleServer({
    name: `port${number}`,
    capabilities: ["resources", "resources.subscribe"],
  });
  host = await startFakeHost(
    {
      read_catalog: ({ server }) => catalog(server),
      read_resource: ({ uri }) => ({
        contents: [{ uri, mimeType: "text/plain", text: `in ${uri}`, blob: null }],
        ...{ cached: false, freshUntil: null },
      }),
      expand_template: ({ values }) => ({ uri: `demo://${values.port ?? ""}/log` }),
      complete: () => ({ values: ["hamburg", "harwich"], total: 5, hasMore: true }),
    },
    { servers: [server], conversations: [{ id: "c1", title: "Trip", updatedAt: 1 }] },
  );
});

test("lists and reads a resource, and marks it when it changed", async () => {
  const user = userEvent.setup();
  const { rerender } = render(ResourcesTab, { server });
  await user.click(await screen.findByRole("option", { name: /Tide table/ }));
  expect(router.current, "the resource should be opened").toEqual({
    at: "server",
    name: server.name,
    tab: "resources",
    item: "demo://tide",
  });
  await rerender({ server, item: "demo://tide" });
  expect(host.requests("read_resource"), "nothing should be read automatically").toEqual([]);
  await user.click(screen.getByRole("button", { name: "Read" }));
  expect(
    await screen.findByText("in demo://tide"),
    "the content should be shown",
  ).toBeInTheDocument();
  expect(await axeProblems(), "axe should find no violations").toEqual([]);

  host.send({ type: "resource_updated", server: server.name, uri: "demo://tide" });
  expect(
    await screen.findByText("Changed since you read it."),
    "the change should be shown next to the content",
  ).toBeInTheDocument();
  expect(
    screen.getByRole("option", { name: /changed/ }),
    "the change should be marked in the list",
  ).toBeInTheDocument();
  await user.click(screen.getByRole("button", { name: "Read again" }));
  expect(
    screen.queryByText("Changed since you read it."),
    "the mark should be removed after the next read",
  ).toBe(null);
});

test("E28: notes that an app is not shown, and shows its source on request only", async () => {
  const user = userEvent.setup();
  const { rerender } = render(ResourcesTab, { server, item: "ui://port/view" });
  expect(await screen.findByText(/Drawbridge shows it with the results/)).toBeVisible();
  await user.click(screen.getByRole("button", { name: "Read" }));
  const source = await screen.findByRole("button", { name: "Show the source" });
  expect(
    screen.queryByText("in ui://port/view"),
    "the source should be hidden at first",
  ).toBeNull();
  await user.click(source);
  expect(await screen.findByText("in ui://port/view"), "the source should be shown").toBeVisible();
  await rerender({ server, item: "demo://tide" });
  expect(
    screen.queryByText(/shows it with the results/),
    "other resources should have no note",
  ).toBeNull();
  await user.click(screen.getByRole("button", { name: "Read" }));
  expect(await screen.findByText("in demo://tide"), "their content should be shown").toBeVisible();
});

test("subscribes to changes and unsubscribes", async () => {
  const user = userEvent.setup();
  const { rerender } = render(ResourcesTab, { server, item: "demo://tide" });
  await user.click(await screen.findByRole("button", { name: "Watch for changes" }));
  expect(host.requests("subscribe"), "the resource should be subscribed").toEqual([
    { server: server.name, uri: "demo://tide" },
  ]);
  await rerender({ server: { ...server, subscriptions: ["demo://tide"] } });
  await user.click(screen.getByRole("button", { name: "Stop watching" }));
  expect(host.requests("unsubscribe"), "the subscription should be ended").toEqual([
    { server: server.name, uri: "demo://tide" },
  ]);
  await rerender({ server: { ...server, subscriptions: [], capabilities: ["resources"] } });
  expect(
    screen.getByText("The server does not report changes."),
    "the missing capability should be shown",
  ).toBeInTheDocument();
});

test("attaches to the selected conversation", async () => {
  const user = userEvent.setup();
  render(ResourcesTab, { server, item: "demo://tide" });
  await user.click(await screen.findByRole("button", { name: "Attach…" }));
  await user.click(await screen.findByRole("option", { name: /Trip/ }));
  expect(
    host.requests("append_items")[0]?.conversation,
    "the resource should be added to the conversation",
  ).toBe("c1");
  expect(
    host.requests("append_items")[0]?.items[0]?.body,
    "the content should be stored",
  ).toMatchObject({
    ...{ kind: "attachment", uri: "demo://tide", name: "Tide table" },
    contents: [{ text: "in demo://tide" }],
  });
  expect(router.current, "the conversation should be opened").toEqual({
    at: "conversation",
    id: "c1",
  });
});

test("completes the variables of a template by the server", async () => {
  const user = userEvent.setup();
  render(ResourcesTab, { server, item: "demo://{port}/log" });
  const field = await screen.findByRole("combobox", { name: "port" });
  await user.type(field, "ha");
  const proposals = await screen.findAllByRole("option", { name: /ha(mburg|rwich)/ });
  expect(proposals, "the completions of the server should be listed").toHaveLength(2);
  expect(
    screen.getByText(/3 more/),
    "the number of further completions should be shown",
  ).toBeInTheDocument();
  expect(host.requests("complete").at(-1), "the typed text should be sent").toEqual({
    ...{ server: server.name, of: { type: "template", uri: "demo://{port}/log" } },
    ...{ argument: "port", value: "ha", context: {} },
  });
  expect(await axeProblems(), "axe should find no violations").toEqual([]);
  await user.keyboard("{ArrowDown}{ArrowDown}{Enter}");
  expect(field, "the completion should be selected by keyboard").toHaveValue("harwich");
  expect(
    await screen.findByText("demo://harwich/log"),
    "the expanded URI should be shown",
  ).toBeInTheDocument();
  await user.click(screen.getByRole("button", { name: "Read" }));
  expect(
    await screen.findByText("in demo://harwich/log"),
    "the expanded URI should be read",
  ).toBeInTheDocument();
  expect(app.server(server.name), "the server should be in the store").toBeDefined();
});
