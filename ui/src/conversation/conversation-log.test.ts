import { render, screen, waitFor } from "@testing-library/svelte";
import { beforeEach, describe, expect, it } from "vitest";

import type { Conversation, ConversationItem } from "$lib/api/generated";
import { sampleConversation, startFakeHost, type FakeHost } from "$lib/testing/fake-host";

import ConversationView from "./ConversationView.svelte";
import { NewestItems } from "./newest-items";
import { OpenConversation } from "./open-conversation.svelte";

const message = (n: number): ConversationItem => ({
  ...{ id: `i${n}`, at: n, ...(n === 0 ? {} : { parent: `i${n - 1}` }) },
  body: {
    ...{ kind: "message", role: "user", prompt: null },
    content: [{ type: "text", text: `Message ${n}` }],
  },
});
const messages = (from: number, to: number) =>
  Array.from({ length: to - from }, (_, n) => message(from + n));

let host: FakeHost;

/** Creates a host with this number of messages, of which the last hundred are read first. */
async function withMessages(count: number, changes: Partial<Conversation> = {}) {
  host = await startFakeHost({
    read_conversation: () =>
      sampleConversation({
        items: messages(Math.max(0, count - 100), count),
        hasMore: count > 100,
        ...changes,
      }),
    read_conversation_items: ({ before, limit }) => {
      const end = Number(before?.slice(1) ?? count);
      const startIndex = Math.max(0, end - limit);
      return { items: messages(startIndex, end), hasMore: startIndex > 0 };
    },
  });
}

beforeEach(() => history.replaceState(null, "", "#/conversation/c1"));

describe("the newest items", () => {
  it("are the last ones, and stay the same while earlier ones are read", () => {
    const newest = new NewestItems();
    expect(newest.startIndex(messages(100, 200)), "the last twenty items should be rendered").toBe(
      80,
    );
    expect(newest.startIndex(messages(0, 200)), "the same items should be rendered").toBe(180);
    expect(newest.startIndex(messages(0, 250)), "new items should be rendered in addition").toBe(
      180,
    );
  });

  it("are reduced only above the maximum", () => {
    const newest = new NewestItems();
    newest.startIndex(messages(0, 30));
    newest.shorten(messages(0, 100));
    expect(newest.startIndex(messages(0, 100)), "few items should not be reduced").toBe(10);
    newest.shorten(messages(0, 200));
    expect(newest.startIndex(messages(0, 200)), "many items should be reduced").toBe(180);
  });

  it("belong to the selected branch", () => {
    const newest = new NewestItems();
    newest.startIndex(messages(0, 100));
    const other = [...messages(0, 10), { ...message(10), id: "other" }];
    expect(newest.startIndex(other), "all items of a short branch should be rendered").toBe(0);
    expect(newest.startIndex([]), "an empty conversation should start at 0").toBe(0);
  });
});

describe("the target of a search", () => {
  it("is loaded page by page and rendered at once", async () => {
    await withMessages(1000);
    const open = new OpenConversation("c1");
    await open.read();
    expect(await open.reach("i250"), "the item should be loaded").toBe(true);
    expect(open.items[0]?.id, "no more pages than required should be loaded").toBe("i100");
    expect(open.items.length, "all items in between should be loaded").toBe(900);
    expect(host.requests("read_conversation_items").map(({ before }) => before)).toEqual([
      "i900",
      "i700",
      "i500",
      "i300",
    ]);
    expect(await open.reach("i500"), "loaded items should be found").toBe(true);
    expect(
      host.requests("read_conversation_items"),
      "loaded items should not be read again",
    ).toHaveLength(4);
  });

  it("is not found if it is in no visible branch", async () => {
    await withMessages(120);
    const open = new OpenConversation("c1");
    expect(await open.reach("elsewhere"), "the item should not be found").toBe(false);
    expect(open.hasMore, "all pages should be read").toBe(false);
  });

  it("is marked", async () => {
    await withMessages(8);
    render(ConversationView, { id: "c1", item: "i3" });
    const words = await screen.findByText("Message 3");
    const row = words.closest("[data-item]");
    await waitFor(() =>
      expect(row, "the item should be marked for screen readers").toHaveAttribute(
        "aria-current",
        "true",
      ),
    );
    expect(
      document.querySelectorAll("[aria-current=true]"),
      "no other item should be marked",
    ).toHaveLength(1);
  });
});

describe("omitted content", () => {
  const picture: ConversationItem = {
    ...message(0),
    body: {
      ...{ kind: "message", role: "assistant", prompt: null },
      content: [{ type: "image", data: "", mimeType: "image/gif" }],
    },
    omitted: [{ pointer: "/content/0/data", hash: "h1", bytes: 42, isText: false }],
  };
  const GIF = "R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7";

  it("is fetched once for rendered items", async () => {
    await withMessages(0, { items: [picture] });
    host.answers.read_omitted_content = () => ({ data: GIF });
    render(ConversationView, { id: "c1" });
    const drawn = await screen.findByRole("img");
    expect(drawn, "the content should be rendered in place").toHaveAttribute(
      "src",
      `data:image/gif;base64,${GIF}`,
    );
    host.send({ type: "conversations_changed", conversations: [], changed: "c1" });
    await waitFor(() =>
      expect(
        host.requests("read_conversation"),
        "the conversation should be read again",
      ).toHaveLength(2),
    );
    expect(
      host.requests("read_omitted_content"),
      "the content should not be fetched again",
    ).toEqual([{ hash: "h1" }]);
  });

  it("shows why it is missing", async () => {
    await withMessages(0, { items: [picture] });
    host.answers.read_omitted_content = () => {
      throw { code: "not_found", message: "no such content" };
    };
    render(ConversationView, { id: "c1" });
    expect(await screen.findByText(/no such content/), "the error should be shown").toBeVisible();
  });
});
