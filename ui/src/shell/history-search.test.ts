import { render, screen, waitFor, within } from "@testing-library/svelte";
import userEvent from "@testing-library/user-event";
import { beforeEach, expect, test } from "vitest";

import App from "../App.svelte";
import type { FoundItem } from "$lib/api/generated";
import { router } from "$lib/state/router.svelte";
import { axeProblems } from "$lib/testing/axe";
import { startFakeHost } from "$lib/testing/fake-host";

import { overlay } from "./overlay.svelte";

// Preloaded, so that the tests do not wait for it.
await import("./CommandPalette.svelte");

const user = userEvent.setup();
const conversations = [
  { id: "c1", title: "Trip to Bergen", updatedAt: 2 },
  { id: "c2", title: "Taxes", updatedAt: 1 },
];

function find(number: number, text: string, matches: [number, number][]): FoundItem {
  const excerpt = { text, cutBefore: true, cutAfter: false, matches };
  return { number, conversation: "c2", title: "Taxes", item: `i${number}`, at: 0, excerpt };
}

const hostile = "the <b>Bergen</b>\u202e ferry";
const finds = [find(9, hostile, [[7, 13]]), find(4, "in Bergen", [[3, 9]])];

/** Starts a fake host whose history has two matching items, returned one per page. */
function start() {
  return startFakeHost(
    {
      search_history: ({ text, before }) => {
        if (!text.startsWith("berg")) return { found: [], hasMore: false };
        const found = finds.filter(({ number }) => number < (before ?? Infinity)).slice(0, 1);
        return { found, hasMore: before === undefined };
      },
      read_conversation: ({ conversation }) => ({
        ...{ id: conversation, title: "Taxes", updatedAt: 1, items: [], sources: [] },
        settings: {
          model: null,
          systemPrompt: "",
          servers: [],
          shareRoots: false,
          thinking: false,
        },
        ...{ answering: false, hasMore: false, draft: "" },
      }),
    },
    { conversations },
  );
}

beforeEach(() => {
  history.replaceState(null, "", "#/add-server");
  router.current = { at: "add-server" };
  overlay.palette = false;
});

test("the left column finds titles and messages page by page, and opens a message in its conversation", async () => {
  const host = await start();
  render(App);
  const field = await screen.findByRole("searchbox", { name: "Search conversations" });
  await user.type(field, "berg");
  const results = await screen.findByRole("list", { name: "Messages in conversations" });
  expect(
    host.requests("search_history").at(-1)?.text,
    "the query should be sent after a pause",
  ).toBe("berg");
  const titles = screen.getByRole("list", { name: "Conversations by title" });
  expect(within(titles).getAllByRole("link").length, "only matching titles should be listed").toBe(
    1,
  );
  const link = within(results).getByRole("link");
  expect(link.textContent, "the excerpt should be text with named hidden characters").toContain(
    "… the <b>Bergen</b>[U+202E] ferry",
  );
  expect(link.querySelector("mark")?.textContent, "the match should be marked").toBe("Bergen");
  expect(await axeProblems(), "axe should find no violations").toEqual([]);
  await user.click(screen.getByRole("button", { name: "Older" }));
  await waitFor(() =>
    expect(within(results).getAllByRole("link").length, "older results should be appended").toBe(2),
  );
  expect(
    screen.queryByRole("button", { name: "Older" }),
    "there should be no further page",
  ).toBeNull();
  link.focus();
  await user.keyboard("{Enter}");
  await waitFor(() =>
    expect(router.current, "the item should be opened").toEqual({
      at: "conversation",
      id: "c2",
      item: "i9",
    }),
  );
  expect(host.requests("choose_branch"), "the branch of the item should be selected").toEqual([
    { conversation: "c2", item: "i9" },
  ]);
  await user.clear(field);
  expect(
    screen.queryByRole("list", { name: "Messages in conversations" }),
    "the conversations should be listed again",
  ).toBeNull();
});

test("shows that nothing was found, or that the search failed", async () => {
  const host = await start();
  render(App);
  const field = await screen.findByRole("searchbox", { name: "Search conversations" });
  await user.type(field, "zzz");
  expect(await screen.findByText("No results."), "the empty result should be shown").toBeTruthy();
  host.answers.search_history = () => {
    throw { code: "system", message: "history.db: the disk is full" };
  };
  await user.type(field, "z");
  expect(await screen.findByText(/the disk is full/), "the cause should be shown").toBeTruthy();
});

test("the palette finds messages", async () => {
  const host = await start();
  render(App);
  overlay.palette = true;
  await user.type(await screen.findByRole("combobox"), "berg");
  const option = await screen.findByRole("option", { name: /Bergen.*ferry/ });
  expect(option.querySelector("mark")?.textContent, "the match should be marked").toBe("Bergen");
  await user.click(option);
  await waitFor(() =>
    expect(host.requests("choose_branch"), "the branch of the item should be selected").toEqual([
      { conversation: "c2", item: "i9" },
    ]),
  );
});
