import { beforeEach, describe, expect, test } from "vitest";

import type { Catalog, Resource, ResourceContents, ResourceResult } from "$lib/api/generated";
import {
  NO_EXPIRY,
  sampleConversation,
  startFakeHost,
  type FakeHost,
} from "$lib/testing/fake-host";

import { attachResource } from "./attach";
import { TemplateExpansion } from "./expansion.svelte";
import { byteCount, hexRows } from "./hex";
import { partLanguage, partViews } from "./part-kind";
import { MAX_CHANGED, MAX_READINGS, resourceReadings } from "./readings.svelte";
import { resourceRows, rowKey, selectedItem } from "./resource-list";

let host: FakeHost;
beforeEach(async () => {
  host = await startFakeHost({
    read_resource: ({ uri }) => ({
      contents: [{ uri, mimeType: null, text: `in ${uri}`, blob: null }],
      ...{ cached: false, freshUntil: null },
    }),
  });
});

describe("readings", () => {
  const changed = (server: string, uri: string) => ({
    type: "resource_updated" as const,
    server,
    uri,
  });

  test("are marked after a change until the next read", async () => {
    const reading = await resourceReadings.read("s", "a://1");
    expect(reading.contents?.[0]?.text, "what is in it").toBe("in a://1");
    expect(resourceReadings.hasChanged("s", "a://1"), "just read").toBe(false);
    resourceReadings.receive(changed("other", "a://1"));
    expect(
      resourceReadings.hasChanged("s", "a://1"),
      "another server's resource is another one",
    ).toBe(false);
    resourceReadings.receive(changed("s", "a://1"));
    expect(resourceReadings.hasChanged("s", "a://1"), "changed since").toBe(true);
    await resourceReadings.read("s", "a://1");
    expect(resourceReadings.hasChanged("s", "a://1"), "read again").toBe(false);
  });

  test("are marked after a change below the resource", () => {
    resourceReadings.receive(changed("s", "file:///a/b.txt"));
    expect(resourceReadings.hasChanged("s", "file:///a"), "its folder").toBe(true);
    expect(resourceReadings.hasChanged("s", "file:///a/b"), "not one with a like name").toBe(false);
  });

  test("keep the mark after a change during the read or a failed read", async () => {
    let answer: (result: ResourceResult) => void = () => undefined;
    host.answers.read_resource = () => new Promise((resolve) => (answer = resolve));
    const under = resourceReadings.read("s", "a://1");
    expect(resourceReadings.get("s", "a://1")?.busy, "under way").toBe(true);
    resourceReadings.receive(changed("s", "a://1"));
    answer({ contents: [], cached: false, freshUntil: null });
    await under;
    expect(resourceReadings.hasChanged("s", "a://1"), "what was read may be old").toBe(true);
    host.answers.read_resource = () => Promise.reject({ code: "timeout", message: "late" });
    const failed = await resourceReadings.read("s", "a://1");
    expect(
      [failed.error?.code, resourceReadings.hasChanged("s", "a://1")],
      "still to be read",
    ).toEqual(["timeout", true]);
  });

  test("are bounded", async () => {
    for (let i = 0; i < MAX_READINGS + 1; i += 1) await resourceReadings.read("s", `a://${i}`);
    expect(resourceReadings.get("s", "a://0"), "the oldest is let go").toBe(undefined);
    expect(resourceReadings.get("s", "a://1"), "the others stay").toBeDefined();
    for (let i = 0; i <= MAX_CHANGED; i += 1) resourceReadings.receive(changed("s", `b://${i}`));
    expect(resourceReadings.hasChanged("s", "b://0"), "so are marks").toBe(false);
    expect(resourceReadings.hasChanged("s", `b://${MAX_CHANGED}`), "the latest stay").toBe(true);
  });

  test("are dropped with their server", async () => {
    await resourceReadings.read("s", "a://1");
    resourceReadings.receive(changed("s", "a://1"));
    resourceReadings.receive({ type: "server_removed", name: "s" });
    expect(
      [resourceReadings.get("s", "a://1"), resourceReadings.hasChanged("s", "a://1")],
      "forgotten",
    ).toEqual([undefined, false]);
  });

  test("can be cancelled", async () => {
    let fail: (error: unknown) => void = () => undefined;
    host.answers.read_resource = () => new Promise((_, reject) => (fail = reject));
    host.answers.cancel_call = () => {
      fail({ code: "cancelled", message: "" });
      return {};
    };
    const under = resourceReadings.read("s", "a://1");
    await resourceReadings.get("s", "a://1")?.cancel();
    expect((await under).error?.code, "by the id of its call").toBe("cancelled");
    expect(host.requests("cancel_call")[0]?.call, "which the page chose").toBe(
      host.requests("read_resource")[0]?.call,
    );
  });
});

describe("attachments", () => {
  const contents: ResourceContents[] = [{ uri: "a://1", mimeType: null, text: "t", blob: null }];
  const attachment = { server: "s", uri: "a://1", name: "One" };

  test("are added to an existing conversation", async () => {
    const id = await attachResource({ ...attachment, contents, conversation: "c1" });
    expect(id, "goes there").toBe("c1");
    expect(host.requests("append_items")[0], "as it was read").toMatchObject({
      conversation: "c1",
      items: [{ body: { kind: "attachment", ...attachment, contents } }],
    });
    expect(host.requests("read_resource"), "not read once more").toEqual([]);
  });

  test("are read and added to a new conversation", async () => {
    host.answers.create_conversation = ({ title }) => sampleConversation({ id: "new", title });
    expect(await attachResource({ ...attachment, conversation: null }), "its id").toBe("new");
    expect(host.requests("create_conversation"), "named after it").toEqual([{ title: "One" }]);
    expect(host.requests("append_items")[0]?.items[0]?.body, "with what is in it").toMatchObject({
      contents: [{ text: "in a://1" }],
    });
  });

  test("create no conversation if the read fails", async () => {
    host.answers.read_resource = () => Promise.reject({ code: "server", message: "no" });
    await expect(
      attachResource({ ...attachment, conversation: null }),
      "says why",
    ).rejects.toMatchObject({ code: "server" });
    expect(host.requests("create_conversation"), "no empty conversation").toEqual([]);
  });
});

describe("templates", () => {
  const template = {
    ...{ uriTemplate: "a://{x}/{y}", variables: ["x", "y"], name: "t", title: null },
    ...{ description: null, mimeType: null, icons: [] },
  };

  test("are expanded by the host without empty variables", async () => {
    host.answers.expand_template = ({ values }) => ({
      uri: `a://${values.x ?? ""}/${values.y ?? ""}`,
    });
    const expansion = new TemplateExpansion(template);
    expect(expansion.empty, "nothing filled in").toBe(true);
    expansion.values.x = "1";
    await expansion.expand();
    expect(host.requests("expand_template").at(-1)?.values, "filled ones only").toEqual({ x: "1" });
    expect([expansion.uri, expansion.empty], "where it leads").toEqual(["a://1/", false]);
    expect(expansion.contextFor("y"), "the others are context for completion").toEqual({ x: "1" });
  });

  test("ignore a late response", async () => {
    const answers: ((uri: { uri: string }) => void)[] = [];
    host.answers.expand_template = () => new Promise((resolve) => answers.push(resolve));
    const expansion = new TemplateExpansion(template);
    const first = expansion.expand();
    const second = expansion.expand();
    answers[1]?.({ uri: "second" });
    await second;
    answers[0]?.({ uri: "first" });
    await first;
    expect(expansion.uri, "the latest counts").toBe("second");
  });

  test("stay pending while a response belongs to older values", async () => {
    const answers: ((answer: { uri: string }) => void)[] = [];
    host.answers.expand_template = () => new Promise((resolve) => answers.push(resolve));
    const expansion = new TemplateExpansion(template);
    const first = expansion.expand();
    expansion.set("x", "2");
    answers[0]?.({ uri: "old" });
    await first;
    expect(expansion.pending, "the URI of the new values is still to come").toBe(true);
    expect(expansion.uri, "and the old one is not shown for it").toBeNull();
    const second = expansion.expand();
    answers[1]?.({ uri: "new" });
    await second;
    expect(expansion.uri, "then it is there").toBe("new");
    expect(expansion.pending, "and nothing is to come").toBe(false);
  });

  test("show why they can't be expanded", async () => {
    host.answers.expand_template = () =>
      Promise.reject({ code: "bad_answer", message: "no template" });
    const expansion = new TemplateExpansion(template);
    await expansion.expand();
    expect([expansion.uri, expansion.error?.message], "in words").toEqual([null, "no template"]);
  });
});

describe("binary data", () => {
  test("shows the size and the first bytes", () => {
    const base64 = btoa("Hello, \u0000 bytes of a file");
    expect(byteCount(base64), "without decoding it").toBe(24);
    expect(hexRows(base64, 20), "two rows").toEqual([
      {
        offset: "000000",
        hex: "48 65 6c 6c 6f 2c 20 00 20 62 79 74 65 73 20 6f",
        text: "Hello, · bytes o",
      },
      { offset: "000010", hex: "66 20 61 20", text: "f a " },
    ]);
    expect(hexRows("no base64!", 20), "what is no base64").toBe(null);
  });
});

const part = (changes: Partial<ResourceContents>): ResourceContents => ({
  ...{ uri: "a://x", mimeType: null, text: null, blob: null },
  ...changes,
});
test.each([
  [part({ text: "hi" }), ["text", "markdown"]],
  [part({ text: "# hi", mimeType: "text/markdown; charset=utf-8" }), ["markdown", "text"]],
  [part({ text: "# hi", uri: "a://README.MD" }), ["markdown", "text"]],
  [part({ text: ' {"a":1}', mimeType: "text/plain" }), ["json", "text"]],
  [part({ text: '{"a":', mimeType: "application/json" }), ["text", "markdown"]],
  [part({ blob: "AAAA", mimeType: "IMAGE/PNG" }), ["image", "bytes"]],
  [part({ blob: "AAAA", mimeType: "audio/wav" }), ["audio", "bytes"]],
  [part({ blob: "AAAA" }), ["bytes"]],
])("the views of %j", (contents, kinds) => {
  expect(
    partViews(contents).map((view) => view.kind),
    "the best first",
  ).toEqual(kinds);
});

test("selects the language by type, else by name", () => {
  expect(partLanguage(part({ mimeType: "image/svg+xml" })), "by type").toBe("xml");
  expect(partLanguage(part({ uri: "file:///main.RS" })), "by name").toBe("rs");
});

test("finds the row that the location names", () => {
  const resource = (uri: string): Resource => ({
    ...{ uri, name: uri, title: null, description: null, mimeType: null, size: null, icons: [] },
  });
  const catalog: Catalog = {
    ...{ server: "s", tools: [], prompts: [], notes: [], freshUntil: NO_EXPIRY },
    resources: [resource("a://1"), resource("b://2")],
    templates: [
      {
        ...{ uriTemplate: "a://{x}", variables: ["x"], name: "t", title: null },
        description: null,
        mimeType: null,
        icons: [],
      },
    ],
  };
  expect(resourceRows("", catalog).map(rowKey), "all, under their headings").toEqual([
    ...["heading resources", "a://1", "b://2", "heading templates", "a://{x}"],
  ]);
  expect(resourceRows("b:", catalog).map(rowKey), "no heading over nothing").toEqual([
    "heading resources",
    "b://2",
  ]);
  expect(selectedItem("a://{x}", catalog), "a template").toHaveProperty("template");
  expect(selectedItem("c://3", catalog), "a URI from elsewhere").toEqual({
    uri: "c://3",
    resource: null,
  });
});
