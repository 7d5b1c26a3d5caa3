import { beforeEach, describe, expect, test } from "vitest";

import type { ServerCatalog, Resource, ResourceContents, ResourceResult } from "$lib/api/generated";
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
import { MAX_CHANGED_RESOURCES, MAX_READINGS, resourceReadings } from "./readings.svelte";
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
    expect(reading.contents?.[0]?.text, "the content should be read").toBe("in a://1");
    expect(resourceReadings.hasChanged("s", "a://1"), "a fresh reading should not be marked").toBe(
      false,
    );
    resourceReadings.receive(changed("other", "a://1"));
    expect(
      resourceReadings.hasChanged("s", "a://1"),
      "a change of another server should be ignored",
    ).toBe(false);
    resourceReadings.receive(changed("s", "a://1"));
    expect(
      resourceReadings.hasChanged("s", "a://1"),
      "the reading should be marked after a change",
    ).toBe(true);
    await resourceReadings.read("s", "a://1");
    expect(
      resourceReadings.hasChanged("s", "a://1"),
      "the mark should be removed by the next read",
    ).toBe(false);
  });

  test("are marked after a change below the resource", () => {
    resourceReadings.receive(changed("s", "file:///a/b.txt"));
    expect(resourceReadings.hasChanged("s", "file:///a"), "the folder should be marked").toBe(true);
    expect(
      resourceReadings.hasChanged("s", "file:///a/b"),
      "a similar name should not be marked",
    ).toBe(false);
  });

  test("keep the mark after a change during the read or a failed read", async () => {
    let answer: (result: ResourceResult) => void = () => undefined;
    host.answers.read_resource = () => new Promise((resolve) => (answer = resolve));
    const under = resourceReadings.read("s", "a://1");
    expect(resourceReadings.get("s", "a://1")?.busy, "the read should be pending").toBe(true);
    resourceReadings.receive(changed("s", "a://1"));
    answer({ contents: [], cached: false, freshUntil: null });
    await under;
    expect(
      resourceReadings.hasChanged("s", "a://1"),
      "the content should be marked as possibly outdated",
    ).toBe(true);
    host.answers.read_resource = () => Promise.reject({ code: "timeout", message: "late" });
    const failed = await resourceReadings.read("s", "a://1");
    expect(
      [failed.error?.code, resourceReadings.hasChanged("s", "a://1")],
      "the mark should be kept after a failed read",
    ).toEqual(["timeout", true]);
  });

  test("are bounded", async () => {
    for (let i = 0; i < MAX_READINGS + 1; i += 1) await resourceReadings.read("s", `a://${i}`);
    expect(resourceReadings.get("s", "a://0"), "the oldest reading should be dropped").toBe(
      undefined,
    );
    expect(
      resourceReadings.get("s", "a://1"),
      "the other readings should be retained",
    ).toBeDefined();
    for (let i = 0; i <= MAX_CHANGED_RESOURCES; i += 1)
      resourceReadings.receive(changed("s", `b://${i}`));
    expect(resourceReadings.hasChanged("s", "b://0"), "the oldest mark should be dropped").toBe(
      false,
    );
    expect(
      resourceReadings.hasChanged("s", `b://${MAX_CHANGED_RESOURCES}`),
      "the latest mark should be retained",
    ).toBe(true);
  });

  test("are dropped with their server", async () => {
    await resourceReadings.read("s", "a://1");
    resourceReadings.receive(changed("s", "a://1"));
    resourceReadings.receive({ type: "server_removed", name: "s" });
    expect(
      [resourceReadings.get("s", "a://1"), resourceReadings.hasChanged("s", "a://1")],
      "the readings and marks should be dropped",
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
    expect((await under).error?.code, "the read should be cancelled").toBe("cancelled");
    expect(
      host.requests("cancel_call")[0]?.call,
      "the id of the call should be that of the read",
    ).toBe(host.requests("read_resource")[0]?.call);
  });
});

describe("attachments", () => {
  const contents: ResourceContents[] = [{ uri: "a://1", mimeType: null, text: "t", blob: null }];
  const attachment = { server: "s", uri: "a://1", name: "One" };

  test("are added to an existing conversation", async () => {
    const id = await attachResource({ ...attachment, contents, conversation: "c1" });
    expect(id, "the conversation should be returned").toBe("c1");
    expect(
      host.requests("append_items")[0],
      "the content should be stored as it was read",
    ).toMatchObject({
      conversation: "c1",
      items: [{ body: { kind: "attachment", ...attachment, contents } }],
    });
    expect(host.requests("read_resource"), "the resource should not be read again").toEqual([]);
  });

  test("are read and added to a new conversation", async () => {
    host.answers.create_conversation = ({ title }) => sampleConversation({ id: "new", title });
    expect(
      await attachResource({ ...attachment, conversation: null }),
      "the new conversation should be returned",
    ).toBe("new");
    expect(
      host.requests("create_conversation"),
      "the conversation should have the name of the resource",
    ).toEqual([{ title: "One" }]);
    expect(
      host.requests("append_items")[0]?.items[0]?.body,
      "the content should be stored",
    ).toMatchObject({
      contents: [{ text: "in a://1" }],
    });
  });

  test("create no conversation if the read fails", async () => {
    host.answers.read_resource = () => Promise.reject({ code: "server", message: "no" });
    await expect(
      attachResource({ ...attachment, conversation: null }),
      "the error should be reported",
    ).rejects.toMatchObject({ code: "server" });
    expect(host.requests("create_conversation"), "no conversation should be created").toEqual([]);
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
    expect(expansion.empty, "the template should be empty").toBe(true);
    expansion.values.x = "1";
    await expansion.expand();
    expect(
      host.requests("expand_template").at(-1)?.values,
      "only filled variables should be sent",
    ).toEqual({ x: "1" });
    expect([expansion.uri, expansion.empty], "the expanded URI should be stored").toEqual([
      "a://1/",
      false,
    ]);
    expect(
      expansion.contextFor("y"),
      "the other variables should be the context of a completion",
    ).toEqual({ x: "1" });
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
    expect(expansion.uri, "the latest response should be kept").toBe("second");
  });

  test("stay pending while a response belongs to older values", async () => {
    const answers: ((answer: { uri: string }) => void)[] = [];
    host.answers.expand_template = () => new Promise((resolve) => answers.push(resolve));
    const expansion = new TemplateExpansion(template);
    const first = expansion.expand();
    expansion.set("x", "2");
    answers[0]?.({ uri: "old" });
    await first;
    expect(expansion.pending, "the expansion should be pending").toBe(true);
    expect(expansion.uri, "the outdated URI should not be shown").toBeNull();
    const second = expansion.expand();
    answers[1]?.({ uri: "new" });
    await second;
    expect(expansion.uri, "the new URI should be shown").toBe("new");
    expect(expansion.pending, "the expansion should not be pending").toBe(false);
  });

  test("show why they can't be expanded", async () => {
    host.answers.expand_template = () =>
      Promise.reject({ code: "bad_answer", message: "no template" });
    const expansion = new TemplateExpansion(template);
    await expansion.expand();
    expect([expansion.uri, expansion.error?.message], "the error should be reported").toEqual([
      null,
      "no template",
    ]);
  });
});

describe("binary data", () => {
  test("shows the size and the first bytes", () => {
    const base64 = btoa("Hello, \u0000 bytes of a file");
    expect(byteCount(base64), "the size should be computed without decoding").toBe(24);
    expect(hexRows(base64, 20), "the bytes should be shown in two rows").toEqual([
      {
        offset: "000000",
        hex: "48 65 6c 6c 6f 2c 20 00 20 62 79 74 65 73 20 6f",
        text: "Hello, · bytes o",
      },
      { offset: "000010", hex: "66 20 61 20", text: "f a " },
    ]);
    expect(hexRows("no base64!", 20), "invalid Base64 should be rejected").toBe(null);
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
    "the best view should be first",
  ).toEqual(kinds);
});

test("selects the language by type, else by name", () => {
  expect(
    partLanguage(part({ mimeType: "image/svg+xml" })),
    "the type should determine the language",
  ).toBe("xml");
  expect(
    partLanguage(part({ uri: "file:///main.RS" })),
    "the name should determine the language",
  ).toBe("rs");
});

test("finds the row that the location names", () => {
  const resource = (uri: string): Resource => ({
    ...{ uri, name: uri, title: null, description: null, mimeType: null, size: null, icons: [] },
  });
  const catalog: ServerCatalog = {
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
  expect(resourceRows("", catalog).map(rowKey), "all rows should be under their headings").toEqual([
    ...["heading resources", "a://1", "b://2", "heading templates", "a://{x}"],
  ]);
  expect(resourceRows("b:", catalog).map(rowKey), "an empty group should have no heading").toEqual([
    "heading resources",
    "b://2",
  ]);
  expect(selectedItem("a://{x}", catalog), "the template should be selected").toHaveProperty(
    "template",
  );
  expect(selectedItem("c://3", catalog), "an unlisted URI should be selected").toEqual({
    uri: "c://3",
    resource: null,
  });
});
