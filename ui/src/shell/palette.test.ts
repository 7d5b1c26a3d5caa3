import { render, screen, waitFor, within } from "@testing-library/svelte";
import userEvent from "@testing-library/user-event";
import { beforeEach, expect, test } from "vitest";

import App from "../App.svelte";
import type { Models } from "$lib/api/generated";
import { router } from "$lib/state/router.svelte";
import { axeProblems } from "$lib/testing/axe";
import { sampleConversation, sampleServer, startFakeHost } from "$lib/testing/fake-host";

import { overlay } from "./overlay.svelte";

// Preloaded, so that the tests do not wait for it.
await import("./CommandPalette.svelte");
await import("./Shortcuts.svelte");
await import("../conversation/ConversationView.svelte");
await import("../other-apps/ImportView.svelte");

const user = userEvent.setup();
const UNKNOWN = { images: null, audio: null, files: null, tools: null, thinking: null };
const named = (id: string, name: string) => ({
  ...{ id, name, context: 1000, maxOutput: null, price: null },
  ...UNKNOWN,
});
const MODELS: Models = {
  providers: [
    {
      ...{ id: "lab", name: "Lab", kind: "openai", url: "http://127.0.0.1:1/v1" },
      ...{ silenceSeconds: null, losses: [], hasKey: true, local: true, readable: false },
      ...{ models: [named("small-1", "Small"), named("large-1", "")], listedAt: 1, problem: null },
    },
  ],
  ...{ default: null, found: [], presets: [] },
};
const trip = { id: "c1", title: "Trip plan", updatedAt: 1 };

function start() {
  return startFakeHost(
    {
      models: () => MODELS,
      conversation: () => sampleConversation(),
      create_conversation: ({ title }) => sampleConversation({ id: "new", title }),
    },
    { servers: [sampleServer({ name: "papers" })], conversations: [trip] },
  );
}

/** Opens the palette and types a query. */
async function searchFor(words: string) {
  await user.keyboard("{Control>}k{/Control}");
  await user.type(await screen.findByRole("combobox", { name: "Search or run" }), words);
}

beforeEach(() => {
  history.replaceState(null, "", "#/add-server");
  router.current = { at: "add-server" };
  overlay.palette = overlay.shortcuts = false;
});

test("loads the models once a query is typed, and starts a conversation with one", async () => {
  const host = await start();
  render(App);
  await user.keyboard("{Control>}k{/Control}");
  await screen.findByRole("combobox", { name: "Search or run" });
  expect(host.requests("models"), "nobody looks for one yet").toEqual([]);
  await user.keyboard("small");
  const option = await screen.findByRole("option", { name: /New conversation with Small/ });
  expect(option, "with its provider").toHaveTextContent("Lab");
  expect(await axeProblems(), "axe").toEqual([]);
  await user.keyboard("{Enter}");
  await waitFor(() =>
    expect(router.current, "it is in front").toEqual({ at: "conversation", id: "new" }),
  );
  const [set] = host.requests("set_conversation");
  expect(set?.settings.model, "and answers").toEqual({ provider: "lab", model: "small-1" });
});

test("changes the model of a conversation, found by its id, by keyboard alone", async () => {
  const host = await start();
  router.go({ at: "conversation", id: "c1" });
  render(App);
  await waitFor(() =>
    expect(screen.getByRole("textbox", { name: "Message" }), "one writes there").toHaveFocus(),
  );
  await searchFor("large-1");
  await screen.findByRole("option", { name: /Answer here with large-1/ });
  await user.keyboard("{Enter}");
  await waitFor(() => expect(host.requests("set_conversation"), "set once").toHaveLength(1));
  const [set] = host.requests("set_conversation");
  expect(set?.conversation, "this one").toBe("c1");
  expect(set?.settings.model, "the model").toEqual({ provider: "lab", model: "large-1" });
  expect(host.requests("create_conversation"), "no other is begun").toEqual([]);
});

test("groups the results, moves through them with the arrow keys, and ranks the best match first", async () => {
  await start();
  render(App);
  await searchFor("papers");
  const list = await screen.findByRole("listbox", { name: "Found" });
  const options = () => within(list).getAllByRole("option");
  await waitFor(() => expect(options().length, "the server and what it can do").toBeGreaterThan(3));
  expect(options()[0], "the server itself").toHaveTextContent("papers");
  await waitFor(() => expect(options()[0], "is chosen").toHaveAttribute("aria-selected", "true"));
  await user.keyboard("{ArrowDown}");
  expect(options()[1], "then the next").toHaveAttribute("aria-selected", "true");
  expect(within(list).getByText("Servers"), "under its heading").toBeVisible();
  await user.keyboard("{Escape}");
  await waitFor(() => expect(screen.queryByRole("dialog"), "Escape closes").toBeNull());
  expect(router.current, "nothing was run").toEqual({ at: "add-server" });
});

test("opens the import, which reads nothing by itself", async () => {
  const host = await start();
  render(App);
  await searchFor("other apps");
  await screen.findByRole("option", { name: "Import from other apps…" });
  await user.keyboard("{Enter}");
  await waitFor(() => expect(router.current).toEqual({ at: "import" }));
  const button = await screen.findByRole("button", { name: "Search for servers" });
  await waitFor(() => expect(button, "the keyboard goes on there").toHaveFocus());
  expect(host.requests("import_candidates"), "not before the user says so").toEqual([]);
});

test("shows that nothing was found", async () => {
  await start();
  render(App);
  await searchFor("xyzzy");
  expect(await screen.findByText("No results."), "in words").toBeVisible();
  await user.keyboard("{Enter}");
  expect(router.current, "and Enter runs nothing").toEqual({ at: "add-server" });
});
