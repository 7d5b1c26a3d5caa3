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
      conversation: ({ conversation }) => ({
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
  expect(host.requests("search_history").at(-1)?.text, "what was typed, once it rests").toBe(
    "berg",
  );
  const titles = screen.getByRole("list", { name: "Conversations by title" });
  expect(within(titles).getAllByRole("link").length, "only the title that has it").toBe(1);
  const link = within(results).getByRole("link");
  expect(link.textContent, "the words of the item, as text, and nothing hidden in them").toContain(
    "… the <b>Bergen</b>[U+202E] ferry",
  );
  expect(link.querySelector("mark")?.textContent, "what was searched for is marked").toBe("Bergen");
  expect(await axeProblems(), "axe").toEqual([]);
  await user.click(screen.getByRole("button", { name: "Older" }));
  await waitFor(() =>
    expect(within(results).getAllByRole("link").length, "older ones are added").toBe(2),
  );
  expect(screen.queryByRole("button", { name: "Older" }), "until there are none").toBeNull();
  link.focus();
  await user.keyboard("{Enter}");
  await waitFor(() =>
    expect(router.current, "at the item").toEqual({ at: "conversation", id: "c2", item: "i9" }),
  );
  expect(host.requests("choose_branch"), "in its branch").toEqual([
    { conversation: "c2", item: "i9" },
  ]);
  await user.clear(field);
  expect(
    screen.queryByRole("list", { name: "Messages in conversations" }),
    "then all are back",
  ).toBeNull();
});

test("shows that nothing was found, or that the search failed", async () => {
  const host = await start();
  render(App);
  const field = await screen.findByRole("searchbox", { name: "Search conversations" });
  await user.type(field, "zzz");
  expect(await screen.findByText("No results."), "in words").toBeTruthy();
  host.answers.search_history = () => {
    throw { code: "system", message: "history.db: the disk is full" };
  };
  await user.type(field, "z");
  expect(await screen.findByText(/the disk is full/), "with its cause").toBeTruthy();
});

test("the palette finds messages", async () => {
  const host = await start();
  render(App);
  overlay.palette = true;
  await user.type(await screen.findByRole("combobox"), "berg");
  const option = await screen.findByRole("option", { name: /Bergen.*ferry/ });
  expect(option.querySelector("mark")?.textContent, "marked there too").toBe("Bergen");
  await user.click(option);
  await waitFor(() =>
    expect(host.requests("choose_branch"), "and opens it").toEqual([
      { conversation: "c2", item: "i9" },
    ]),
  );
});
