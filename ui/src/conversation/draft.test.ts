import { cleanup, render, screen, waitFor } from "@testing-library/svelte";
import userEvent from "@testing-library/user-event";
import { afterEach, expect, it, vi } from "vitest";

import { sampleConversation, startFakeHost } from "$lib/testing/fake-host";

import { offerContext } from "../apps/model-context";
import { addToDraft } from "./composer-drafts";
import ConversationView from "./ConversationView.svelte";
import { storeDrafts } from "./stored-draft";

afterEach(() => {
  vi.useRealTimers();
  cleanup();
});

const field = () => screen.getByRole("textbox", { name: "Message" });

async function opened(draft: string, refused?: string) {
  return await startFakeHost(
    {
      read_conversation: () => sampleConversation({ draft }),
      set_draft: () => {
        if (refused !== undefined) throw { code: "system", message: refused };
        return {};
      },
    },
    { conversations: [{ id: "c1", title: "Trip plan", updatedAt: 1 }] },
  );
}

it("is restored when its conversation is opened", async () => {
  const host = await opened("Dear Ann");
  const { unmount } = render(ConversationView, { id: "c1" });
  await waitFor(() => expect(field(), "the draft should be restored").toHaveValue("Dear Ann"));
  unmount();
  expect(host.requests("set_draft"), "an unchanged draft should not be stored").toEqual([]);
});

it("is stored a moment after the last of many changes", async () => {
  const host = await opened("");
  vi.useFakeTimers({ shouldAdvanceTime: true });
  const user = userEvent.setup({ advanceTimers: vi.advanceTimersByTime });
  render(ConversationView, { id: "c1" });
  await user.type(field(), "By train");
  await waitFor(() =>
    expect(host.requests("set_draft").at(-1), "the complete text should be stored").toEqual({
      conversation: "c1",
      text: "By train",
    }),
  );
  expect(
    host.requests("set_draft").length,
    "the draft should not be stored with every key",
  ).toBeLessThan(8);
});

it("is stored with every key once Drawbridge quits", async () => {
  const host = await opened("");
  const user = userEvent.setup();
  render(ConversationView, { id: "c1" });
  await user.type(field(), "By");
  await storeDrafts();
  await user.type(field(), "e");
  expect(host.requests("set_draft").at(-1), "the text should not wait for more").toEqual({
    conversation: "c1",
    text: "Bye",
  });
});

it("is stored at once when its conversation is closed", async () => {
  const host = await opened("");
  const user = userEvent.setup();
  const { unmount } = render(ConversationView, { id: "c1" });
  await waitFor(() => expect(host.requests("read_conversation").length).toBe(1));
  await user.type(field(), "B");
  unmount();
  expect(host.requests("set_draft").at(-1)).toEqual({ conversation: "c1", text: "B" });
});

it("is removed once it is sent", async () => {
  const host = await opened("Dear Ann");
  const user = userEvent.setup();
  const { unmount } = render(ConversationView, { id: "c1" });
  await waitFor(() => expect(field()).toHaveValue("Dear Ann"));
  await user.type(field(), "{Enter}");
  await waitFor(() => expect(field(), "the field should be empty after sending").toHaveValue(""));
  unmount();
  expect(host.requests("set_draft").at(-1), "the stored draft should be empty").toEqual({
    conversation: "c1",
    text: "",
  });
});

it("shows that it can't be stored", async () => {
  await opened("", "disk full");
  const user = userEvent.setup();
  render(ConversationView, { id: "c1" });
  await user.type(field(), "Hello");
  expect((await screen.findByRole("alert")).textContent, "the cause should be shown").toContain(
    "disk full",
  );
});

it("takes text of an app, and is not sent before the user can read it", async () => {
  const host = await opened("Dear Ann");
  vi.useFakeTimers({ shouldAdvanceTime: true });
  const user = userEvent.setup({ advanceTimers: vi.advanceTimersByTime });
  render(ConversationView, { id: "c1" });
  await waitFor(() => expect(field()).toHaveValue("Dear Ann"));
  expect(addToDraft("c1", "explain the chart", "files"), "the draft should take it").toBe(true);
  await waitFor(() => expect(field()).toHaveValue("Dear Ann\n\nexplain the chart"));
  expect(screen.getByText("The app of files added text to this draft.")).toBeVisible();
  const send = screen.getByRole("button", { name: "Send" });
  await user.click(send);
  expect(host.requests("append_items"), "a click right after should not send").toEqual([]);
  await vi.advanceTimersByTimeAsync(2_000);
  await user.click(send);
  await waitFor(() => expect(host.requests("append_items").length).toBe(1));
  expect(screen.queryByText(/added text to this draft/), "the note should end").toBeNull();
});

it("takes no more text of apps until it is sent or emptied", async () => {
  const host = await opened("");
  host.answers.append_items = () => Promise.reject({ code: "system", message: "disk full" });
  vi.useFakeTimers({ shouldAdvanceTime: true });
  const user = userEvent.setup({ advanceTimers: vi.advanceTimersByTime });
  render(ConversationView, { id: "c1" });
  expect(addToDraft("c1", "one", "files")).toBe(true);
  expect(addToDraft("c1", "two", "files"), "the first text is not sent").toBe(false);
  await waitFor(() => expect(field()).toHaveValue("one"));
  await vi.advanceTimersByTimeAsync(2_000);
  await user.click(screen.getByRole("button", { name: "Send" }));
  await screen.findByRole("alert");
  expect(field(), "a text that can't be sent should stay").toHaveValue("one");
  expect(addToDraft("c1", "two", "files"), "the text is still not sent").toBe(false);
  await user.clear(field());
  expect(addToDraft("c1", "two", "files"), "an empty draft should take it").toBe(true);
});

it("is not sent right after an app changed its context", async () => {
  const host = await opened("Dear Ann");
  vi.useFakeTimers({ shouldAdvanceTime: true });
  const user = userEvent.setup({ advanceTimers: vi.advanceTimersByTime });
  render(ConversationView, { id: "c1" });
  await waitFor(() => expect(field()).toHaveValue("Dear Ann"));
  const subject = { server: "files", tool: "chart", uri: "ui://files/chart", conversation: "c1" };
  offerContext(subject, "v1", "three ships");
  await vi.advanceTimersByTimeAsync(2_000);
  offerContext(subject, "v1", "four ships");
  const send = screen.getByRole("button", { name: "Send" });
  await user.click(send);
  expect(host.requests("append_items"), "the new context should be visible first").toEqual([]);
  await vi.advanceTimersByTimeAsync(2_000);
  offerContext(subject, "v1", "four ships");
  await user.click(send);
  await waitFor(() => expect(host.requests("append_items").length).toBeGreaterThan(0));
});

it("refuses text of an app that is too long, or for another conversation", async () => {
  await opened("");
  render(ConversationView, { id: "c1" });
  expect(addToDraft("c1", "x".repeat(1_000_000), "files")).toBe(false);
  expect(addToDraft("c2", "x", "files")).toBe(false);
  expect(field()).toHaveValue("");
});
