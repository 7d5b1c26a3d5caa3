import { cleanup, render, screen, waitFor, within } from "@testing-library/svelte";
import userEvent from "@testing-library/user-event";
import { afterEach, beforeEach, describe, expect, it } from "vitest";

import type { ModelProvider, Models } from "$lib/api/generated";
import { axeProblems } from "$lib/testing/axe";
import { sampleConversation, startFakeHost, type FakeHost } from "$lib/testing/fake-host";

import { Attachments, kindOf, LARGEST, MOST, TOGETHER, type Attached } from "./attachments.svelte";
import ConversationView from "./ConversationView.svelte";
import { attachmentLosses } from "./attachment-losses";

const SMALL = { provider: "lab", model: "small" };
const UNKNOWN = { images: null, audio: null, files: null, tools: null, thinking: null };
const PROVIDER: ModelProvider = {
  ...{ id: "lab", name: "Lab", kind: "openai", url: "http://127.0.0.1:1/v1" },
  ...{ silenceSeconds: null, hasKey: true, local: true, readable: false },
  ...{ listedAt: 1, problem: null },
  losses: [{ what: "audio", then: "leaveOut", choices: [] }],
  models: [
    {
      ...{ id: "small", name: "small", context: null, maxOutput: null, price: null },
      ...{ ...UNKNOWN, images: false },
    },
  ],
};
const MODELS: Models = { providers: [PROVIDER], default: SMALL, found: [], presets: [] };

/** A file that says it has so many bytes. */
function sized(name: string, bytes: number): File {
  const file = new File(["x"], name, { type: "text/plain" });
  Object.defineProperty(file, "size", { value: bytes });
  return file;
}

describe("bounds", () => {
  it("are said in words, and what is within them is taken", async () => {
    const attachments = new Attachments();
    await attachments.add([
      sized("large.txt", LARGEST + 1),
      sized("empty.txt", 0),
      sized("fine.txt", 10),
    ]);
    expect(attachments.all.map(({ name }) => name)).toEqual(["fine.txt"]);
    expect(attachments.problems[0], "how large it is and may be").toMatch(/large\.txt is .*16/);
    expect(attachments.problems[1]).toBe("empty.txt is empty.");
  });

  it("hold for all together, and for how many", async () => {
    const full = new Attachments();
    const half = TOGETHER / 2 + 1;
    await full.add([sized("a", half), sized("b", half)]);
    expect(
      full.all.map(({ name }) => name),
      "the second is too much",
    ).toEqual(["a"]);
    expect(full.problems[0]).toMatch(/^b was not attached\. The files/);
    const many = new Attachments();
    await many.add(Array.from({ length: MOST + 1 }, (_, i) => sized(`f${i}`, 1)));
    expect(many.all.length, "as many as a message takes").toBe(MOST);
    expect(many.problems, "and one too many").toHaveLength(1);
  });
});

it("tells files apart as the host does", () => {
  const text = new TextEncoder().encode("fn a() {}");
  expect(kindOf("image/png", text)).toBe("image");
  expect(kindOf("image/svg+xml", text), "a drawing is a text").toBe("text");
  expect(kindOf("audio/wav", text)).toBe("audio");
  expect(kindOf("application/octet-stream", text), "nothing is said, and it is text").toBe("text");
  expect(kindOf("text/plain", new Uint8Array([0xff, 0])), "said to be text, and is none").toBe(
    "file",
  );
});

it("says what the model may not get", () => {
  const file = (kind: Attached["kind"], mimeType: string): Attached => ({
    ...{ id: kind, name: `a ${kind}`, mimeType, bytes: 1, data: "AA==", kind },
  });
  const of = (...all: Attached[]) => attachmentLosses(all, MODELS, SMALL);
  expect(of(file("text", "text/plain")), "text is always taken").toEqual([]);
  expect(of(file("image", "image/png"))).toEqual([
    "small does not accept images. Choose another model, or remove them.",
  ]);
  expect(of(file("audio", "audio/wav")), "and what was chosen for it").toEqual([
    "Lab may not accept a audio (audio/wav). If it does not: Omit, with a notice.",
  ]);
  expect(attachmentLosses([file("image", "image/png")], MODELS, null), "no model, no loss").toEqual(
    [],
  );
});

describe("files of a message", () => {
  let host: FakeHost;
  beforeEach(async () => {
    host = await startFakeHost(
      { conversation: () => sampleConversation(), models: () => MODELS },
      { conversations: [{ id: "c1", title: "Trip plan", updatedAt: 1 }] },
    );
  });
  afterEach(() => cleanup());

  it("are picked, seen, taken away, and sent with it or without words", async () => {
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
    expect(list.queryByText("b.txt"), "taken away").toBeNull();
    expect(await axeProblems(), "axe finds nothing").toEqual([]);
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
    expect(screen.queryByRole("list", { name: "Attached files" }), "gone with it").toBeNull();
  });

  it("stay when the message could not be sent", async () => {
    const user = userEvent.setup();
    host.answers.send_message = () => Promise.reject({ code: "internal", message: "no" });
    render(ConversationView, { id: "c1" });
    await screen.findByRole("option", { name: "small (Lab)" });
    const picker = document.querySelector<HTMLInputElement>("input[type=file]");
    await user.upload(picker as HTMLInputElement, new File(["hello"], "a.txt"));
    await screen.findByText("a.txt");
    await user.click(screen.getByRole("button", { name: "Send" }));
    await screen.findByRole("alert");
    expect(screen.getByText("a.txt"), "to be sent again").toBeInTheDocument();
  });
});
