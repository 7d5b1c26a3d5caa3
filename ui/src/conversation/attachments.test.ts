import { cleanup, render, screen, waitFor, within } from "@testing-library/svelte";
import userEvent from "@testing-library/user-event";
import { afterEach, beforeEach, describe, expect, it } from "vitest";

import type { ModelProvider, Models } from "$lib/api/generated";
import { axeProblems } from "$lib/testing/axe";
import { sampleConversation, startFakeHost, type FakeHost } from "$lib/testing/fake-host";

import {
  Attachments,
  fileKindOf,
  MAX_FILE_BYTES,
  MAX_ATTACHMENTS,
  MAX_TOTAL_BYTES,
  type AttachedFile,
} from "./attachments.svelte";
import { MIN_ATTACHED_PASTE } from "./composer-keys";
import ConversationView from "./ConversationView.svelte";
import { attachmentLosses } from "./attachment-losses";

const SMALL = { provider: "lab", model: "small" };
const UNKNOWN = { images: null, audio: null, files: null, tools: null, thinking: null };
const PROVIDER: ModelProvider = {
  ...{ id: "lab", name: "Lab", kind: "openai", url: "http://127.0.0.1:1/v1" },
  ...{ silenceSeconds: null, hasKey: true, local: true, isUnencrypted: false },
  ...{ listedAt: 1, problem: null },
  losses: [{ feature: "audio", conversion: "leaveOut", choices: [] }],
  models: [
    {
      ...{ id: "small", name: "small", context: null, maxOutput: null, price: null },
      ...{ ...UNKNOWN, images: false },
    },
  ],
};
const MODELS: Models = { providers: [PROVIDER], default: SMALL, found: [], presets: [] };

/** Creates a file whose `size` is this number of bytes, without allocating them. */
function sized(name: string, bytes: number): File {
  const file = new File(["x"], name, { type: "text/plain" });
  Object.defineProperty(file, "size", { value: bytes });
  return file;
}

describe("bounds", () => {
  it("accepts files within the limits and explains the others", async () => {
    const attachments = new Attachments();
    await attachments.add([
      sized("large.txt", MAX_FILE_BYTES + 1),
      sized("empty.txt", 0),
      sized("fine.txt", 10),
    ]);
    expect(attachments.all.map(({ name }) => name)).toEqual(["fine.txt"]);
    expect(attachments.problems[0], "the problem should name the size and the limit").toMatch(
      /large\.txt is .*16/,
    );
    expect(attachments.problems[1]).toBe("empty.txt is empty.");
  });

  it("apply to the total size and the number of files", async () => {
    const full = new Attachments();
    const half = MAX_TOTAL_BYTES / 2 + 1;
    await full.add([sized("a", half), sized("b", half)]);
    expect(
      full.all.map(({ name }) => name),
      "the second file should be rejected",
    ).toEqual(["a"]);
    expect(full.problems[0]).toMatch(/^b was not attached\. The files/);
    const many = new Attachments();
    await many.add(Array.from({ length: MAX_ATTACHMENTS + 1 }, (_, i) => sized(`f${i}`, 1)));
    expect(many.all.length, "the maximum number of files should be accepted").toBe(MAX_ATTACHMENTS);
    expect(many.problems, "one file should be rejected").toHaveLength(1);
  });
});

it("detects the kind of a file like the host", () => {
  const text = new TextEncoder().encode("fn a() {}");
  expect(fileKindOf("image/png", text)).toBe("image");
  expect(fileKindOf("image/svg+xml", text), "an SVG picture should be text").toBe("text");
  expect(fileKindOf("audio/wav", text)).toBe("audio");
  expect(
    fileKindOf("application/octet-stream", text),
    "data of an unknown type should be text if it is valid UTF-8",
  ).toBe("text");
  expect(
    fileKindOf("text/plain", new Uint8Array([0xff, 0])),
    "data that is declared as text should be a file if it is not valid UTF-8",
  ).toBe("file");
});

it("describes what the model may not receive", () => {
  const file = (kind: AttachedFile["kind"], mimeType: string): AttachedFile => ({
    ...{ id: kind, name: `a ${kind}`, mimeType, bytes: 1, data: "AA==", kind },
  });
  const lossesOf = (...all: AttachedFile[]) => attachmentLosses(all, MODELS, SMALL);
  expect(lossesOf(file("text", "text/plain")), "text should always be supported").toEqual([]);
  expect(lossesOf(file("image", "image/png"))).toEqual([
    "small does not accept images. Choose another model, or remove them.",
  ]);
  expect(
    lossesOf(file("audio", "audio/wav")),
    "the conversion of the audio should be described",
  ).toEqual(["Lab may not accept a audio (audio/wav). If it does not: Omit, with a notice."]);
  expect(
    attachmentLosses([file("image", "image/png")], MODELS, null),
    "nothing should be described without a model",
  ).toEqual([]);
});

describe("files of a message", () => {
  let host: FakeHost;
  beforeEach(async () => {
    host = await startFakeHost(
      { read_conversation: () => sampleConversation(), list_models: () => MODELS },
      { conversations: [{ id: "c1", title: "Trip plan", updatedAt: 1 }] },
    );
  });
  afterEach(() => cleanup());

  it("are picked, previewed, removed, and sent with or without text", async () => {
    const user = userEvent.setup();
    render(ConversationView, { id: "c1" });
    await waitFor(() =>
      expect(screen.getByRole("combobox", { name: "Model" })).toHaveDisplayValue("small (Lab)"),
    );
    const picker = document.querySelector<HTMLInputElement>("input[type=file]");
    await user.upload(picker as HTMLInputElement, [
      new File(["hello"], "a.txt", { type: "text/plain" }),
      new File(["other"], "b.txt", { type: "text/plain" }),
    ]);
    const list = within(await screen.findByRole("list", { name: "Attached files" }));
    await list.findByText("b.txt");
    await user.click(list.getByRole("button", { name: "Remove b.txt" }));
    expect(list.queryByText("b.txt"), "the file should be removed").toBeNull();
    expect(await axeProblems(), "axe should find no violations").toEqual([]);
    await user.click(screen.getByRole("button", { name: "Send" }));
    await waitFor(() =>
      expect(host.requests("send_message")).toEqual([
        {
          ...{ conversation: "c1", text: "", model: SMALL },
          attachments: [
            { type: "file", name: "a.txt", mimeType: "text/plain", data: btoa("hello") },
          ],
        },
      ]),
    );
    expect(
      screen.queryByRole("list", { name: "Attached files" }),
      "the files should be cleared after sending",
    ).toBeNull();
  });

  it("include long pasted text, which can be inserted instead", async () => {
    const user = userEvent.setup();
    render(ConversationView, { id: "c1" });
    await screen.findByRole("option", { name: "small (Lab)" });
    const field = screen.getByRole("textbox", { name: "Message" });
    await user.click(field);
    await user.paste("a".repeat(MIN_ATTACHED_PASTE - 1));
    expect(field, "shorter text should stay in the field").toHaveValue(
      "a".repeat(MIN_ATTACHED_PASTE - 1),
    );
    await user.clear(field);
    const long = "b".repeat(MIN_ATTACHED_PASTE);
    await user.paste(long);
    await screen.findByText("Pasted text.txt");
    expect(field).toHaveValue("");
    expect(await axeProblems(), "axe should find no violations").toEqual([]);
    await user.click(screen.getByRole("button", { name: "Insert as text" }));
    expect(field).toHaveValue(long);
    expect(field).toHaveFocus();
    expect(
      screen.queryByText("Pasted text.txt"),
      "the file should be replaced by the text",
    ).toBeNull();
  });

  it("are kept while another conversation is open", async () => {
    const user = userEvent.setup();
    const { unmount } = render(ConversationView, { id: "c1" });
    await screen.findByRole("option", { name: "small (Lab)" });
    const picker = document.querySelector<HTMLInputElement>("input[type=file]");
    await user.upload(picker as HTMLInputElement, new File(["hello"], "a.txt"));
    await screen.findByText("a.txt");
    expect(screen.queryByText(/kept until/), "nothing was kept yet").toBeNull();
    unmount();
    const other = render(ConversationView, { id: "c2" });
    expect(screen.queryByText("a.txt"), "the file is of another conversation").toBeNull();
    other.unmount();
    render(ConversationView, { id: "c1" });
    expect(screen.getByText("a.txt"), "the file should be kept").toBeInTheDocument();
    expect(screen.getByText(/Attached files are kept until/)).toBeInTheDocument();
    await user.click(screen.getByRole("button", { name: "Remove a.txt" }));
    expect(screen.queryByText(/kept until/), "no kept file is left").toBeNull();
  });

  it("have their total size also after the conversation was left", async () => {
    const user = userEvent.setup();
    const { unmount } = render(ConversationView, { id: "c1" });
    await screen.findByRole("option", { name: "small (Lab)" });
    const picker = () => document.querySelector<HTMLInputElement>("input[type=file]")!;
    await user.upload(picker(), new File(["hello"], "a.txt"));
    await screen.findByText("a.txt");
    unmount();
    render(ConversationView, { id: "c1" });
    await user.upload(picker(), new File(["1234"], "b.txt"));
    await screen.findByText("b.txt");
    expect(screen.getByText(/^2 files,/)).toHaveTextContent("2 files, 9 B");
    await user.upload(picker(), sized("c.txt", MAX_FILE_BYTES));
    await screen.findByText("c.txt");
    await user.upload(picker(), sized("d.txt", MAX_FILE_BYTES));
    expect(await screen.findByText(/^d\.txt was not attached/)).toBeInTheDocument();
    // The files are kept for the next test.
    for (const name of ["a.txt", "b.txt", "c.txt"])
      await user.click(screen.getByRole("button", { name: `Remove ${name}` }));
  });

  it("of pasted text are not kept in addition to the text in the draft", async () => {
    const user = userEvent.setup();
    const { unmount } = render(ConversationView, { id: "c1" });
    await screen.findByRole("option", { name: "small (Lab)" });
    await user.click(screen.getByRole("textbox", { name: "Message" }));
    const long = "b".repeat(MIN_ATTACHED_PASTE);
    await user.paste(long);
    await screen.findByText("Pasted text.txt");
    unmount();
    expect(host.requests("set_draft").at(-1)?.text, "the text should be in the draft").toBe(long);
    render(ConversationView, { id: "c1" });
    expect(screen.queryByText("Pasted text.txt")).toBeNull();
  });

  it("are restored when sending fails", async () => {
    const user = userEvent.setup();
    host.answers.send_message = () => Promise.reject({ code: "internal", message: "no" });
    render(ConversationView, { id: "c1" });
    await screen.findByRole("option", { name: "small (Lab)" });
    const picker = document.querySelector<HTMLInputElement>("input[type=file]");
    await user.upload(picker as HTMLInputElement, new File(["hello"], "a.txt"));
    await screen.findByText("a.txt");
    await user.click(screen.getByRole("button", { name: "Send" }));
    await screen.findByRole("alert");
    expect(screen.getByText("a.txt"), "the file should be restored").toBeInTheDocument();
  });
});
