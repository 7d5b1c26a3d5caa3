import { render, screen } from "@testing-library/svelte";
import userEvent from "@testing-library/user-event";
import { beforeEach, expect, test } from "vitest";

import type { Catalog, Server } from "$lib/api/generated";
import { app } from "$lib/state/app.svelte";
import { router } from "$lib/state/router.svelte";
import { axeProblems } from "$lib/testing/axe";
import { NO_EXPIRY, sampleServer, startFakeHost, type FakeHost } from "$lib/testing/fake-host";

import ResourcesTab from "./ResourcesTab.svelte";

let host: FakeHost;
let number = 0;
/** Server with a unique name for each test, because data of servers is retained. */
let server: Server;

function catalog(of: string): Catalog {
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
      catalog: ({ server }) => catalog(server),
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
  expect(router.current, "opened").toEqual({
    at: "server",
    name: server.name,
    tab: "resources",
    item: "demo://tide",
  });
  await rerender({ server, item: "demo://tide" });
  expect(host.requests("read_resource"), "nothing is read before it is asked for").toEqual([]);
  await user.click(screen.getByRole("button", { name: "Read" }));
  expect(await screen.findByText("in demo://tide"), "what is in it").toBeInTheDocument();
  expect(await axeProblems(), "axe finds nothing").toEqual([]);

  host.send({ type: "resource_updated", server: server.name, uri: "demo://tide" });
  expect(
    await screen.findByText("Changed since you read it."),
    "said beside it",
  ).toBeInTheDocument();
  expect(screen.getByRole("option", { name: /changed/ }), "and in the list").toBeInTheDocument();
  await user.click(screen.getByRole("button", { name: "Read again" }));
  expect(screen.queryByText("Changed since you read it."), "until it is read again").toBe(null);
});

test("notes that an app is not shown, and reads its source", async () => {
  const user = userEvent.setup();
  const { rerender } = render(ResourcesTab, { server, item: "ui://port/view" });
  expect(await screen.findByText(/Drawbridge can't show apps yet/)).toBeVisible();
  await user.click(screen.getByRole("button", { name: "Read" }));
  expect(await screen.findByText("in ui://port/view"), "its source").toBeVisible();
  await rerender({ server, item: "demo://tide" });
  expect(screen.queryByText(/can't show apps yet/), "every other resource is shown").toBeNull();
});

test("subscribes to changes and unsubscribes", async () => {
  const user = userEvent.setup();
  const { rerender } = render(ResourcesTab, { server, item: "demo://tide" });
  await user.click(await screen.findByRole("button", { name: "Watch for changes" }));
  expect(host.requests("subscribe"), "asked for").toEqual([
    { server: server.name, uri: "demo://tide" },
  ]);
  await rerender({ server: { ...server, subscriptions: ["demo://tide"] } });
  await user.click(screen.getByRole("button", { name: "Stop watching" }));
  expect(host.requests("unsubscribe"), "ended").toEqual([
    { server: server.name, uri: "demo://tide" },
  ]);
  await rerender({ server: { ...server, subscriptions: [], capabilities: ["resources"] } });
  expect(
    screen.getByText("The server does not report changes."),
    "where there is no way",
  ).toBeInTheDocument();
});

test("attaches to the selected conversation", async () => {
  const user = userEvent.setup();
  render(ResourcesTab, { server, item: "demo://tide" });
  await user.click(await screen.findByRole("button", { name: "Attach…" }));
  await user.click(await screen.findByRole("option", { name: /Trip/ }));
  expect(host.requests("append_items")[0]?.conversation, "there").toBe("c1");
  expect(host.requests("append_items")[0]?.items[0]?.body, "with what is in it").toMatchObject({
    ...{ kind: "attachment", uri: "demo://tide", name: "Tide table" },
    contents: [{ text: "in demo://tide" }],
  });
  expect(router.current, "and goes there").toEqual({ at: "conversation", id: "c1" });
});

test("completes the variables of a template by the server", async () => {
  const user = userEvent.setup();
  render(ResourcesTab, { server, item: "demo://{port}/log" });
  const field = await screen.findByRole("combobox", { name: "port" });
  await user.type(field, "ha");
  const proposals = await screen.findAllByRole("option", { name: /ha(mburg|rwich)/ });
  expect(proposals, "what the server proposes").toHaveLength(2);
  expect(screen.getByText(/3 more/), "and that there are more").toBeInTheDocument();
  expect(host.requests("complete").at(-1), "asked for what was typed").toEqual({
    ...{ server: server.name, of: { type: "template", uri: "demo://{port}/log" } },
    ...{ argument: "port", value: "ha", context: {} },
  });
  expect(await axeProblems(), "axe finds nothing").toEqual([]);
  await user.keyboard("{ArrowDown}{ArrowDown}{Enter}");
  expect(field, "taken by keyboard").toHaveValue("harwich");
  expect(await screen.findByText("demo://harwich/log"), "where it leads").toBeInTheDocument();
  await user.click(screen.getByRole("button", { name: "Read" }));
  expect(await screen.findByText("in demo://harwich/log"), "is read").toBeInTheDocument();
  expect(app.server(server.name), "of this server").toBeDefined();
});
