import { cleanup, render, screen, waitFor } from "@testing-library/svelte";
import userEvent from "@testing-library/user-event";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";

import type { Prompt } from "$lib/api/generated";
import { router } from "$lib/state/router.svelte";
import { axeProblems } from "$lib/testing/axe";
import {
  NO_EXPIRY,
  REVIEWED_DEFINITION,
  sampleConversation,
  sampleServer,
  startFakeHost,
  type FakeHost,
} from "$lib/testing/fake-host";

import PromptDialog from "./PromptDialog.svelte";
import PromptsTab from "./PromptsTab.svelte";

const NOT_REVIEWED = "You have not reviewed this prompt yet.";

let host: FakeHost;
let number = 0;
/** Names of the servers, unique for each test, because data of servers is retained. */
let names: [string, string];

function prompt(name: string, changes: Partial<Prompt> = {}): Prompt {
  return {
    ...{ name, title: null, description: null, arguments: [], icons: [] },
    ...REVIEWED_DEFINITION,
    ...changes,
  };
}

const argument = (name: string, required: boolean) => ({
  name,
  title: null,
  description: null,
  required,
});

beforeEach(async () => {
  number += 1;
  names = [`demo${number}`, `notes${number}`];
  const [demo] = names;
  host = await startFakeHost(
    {
      read_catalog: ({ server }) => ({
        ...{ server, tools: [], resources: [], templates: [], notes: [], freshUntil: NO_EXPIRY },
        prompts:
          server === demo
            ? [
                prompt("plan_trip", {
                  title: "Plan a trip",
                  description: "Plans a journey to a city",
                  arguments: [argument("country", true), argument("city", false)],
                }),
                prompt("greet"),
              ]
            : [prompt("summarize", { description: "Makes a note short" })],
      }),
      complete: ({ value }) => ({
        values: ["Paris", "Pau"].filter((v) => v.toLowerCase().startsWith(value.toLowerCase())),
        total: null,
        hasMore: false,
      }),
      get_prompt: ({ prompt, arguments: filledArguments }) => ({
        description: null,
        messages: [
          {
            role: "user",
            content: [{ type: "text", text: `${prompt} ${JSON.stringify(filledArguments)}` }],
          },
        ],
      }),
      create_conversation: ({ title }) => sampleConversation({ id: "new", title }),
    },
    { servers: names.map((name) => sampleServer({ name })) },
  );
});
afterEach(() => cleanup());

describe("the prompt picker", () => {
  // [prompts-user-selected]
  it("goes from / to the conversation by keyboard alone", async () => {
    const user = userEvent.setup();
    const onclose = vi.fn();
    render(PromptDialog, { open: true, conversation: "c1", onclose });
    await screen.findByRole("option", { name: /summarize/ });
    await waitFor(() =>
      expect(document.activeElement, "the field should be focused").toBe(
        screen.getByRole("combobox"),
      ),
    );
    expect(
      screen.getAllByRole("option").length,
      "the prompts of both servers should be listed",
    ).toBe(3);
    expect(await axeProblems(), "axe should find no violations").toEqual([]);
    await user.keyboard("pltr{Enter}");

    const country = await screen.findByRole("combobox", { name: /country required/ });
    country.focus();
    await user.keyboard("fr");
    screen.getByRole("combobox", { name: /city/ }).focus();
    await user.keyboard("pa");
    await screen.findByRole("option", { name: "Pau" });
    expect(host.requests("complete").at(-1), "the previous arguments should be sent").toEqual({
      server: names[0],
      of: { type: "prompt", name: "plan_trip" },
      argument: "city",
      value: "pa",
      context: { country: "fr" },
    });
    expect(await axeProblems(), "axe should find no violations with an open list").toEqual([]);
    await user.keyboard("{ArrowDown}{ArrowDown}{Enter}");
    await user.keyboard("{Enter}");
    expect(
      await screen.findByText('plan_trip {"country":"fr","city":"Pau"}'),
      "the prompt should be previewed",
    ).toBeInTheDocument();
    screen.getByRole("button", { name: "Insert into the conversation" }).focus();
    await user.keyboard("{Enter}");
    await waitFor(() =>
      expect(onclose, "the picker should close after the insertion").toHaveBeenCalledWith(true),
    );
    expect(
      host.requests("append_items"),
      "the messages should be stored with their origin",
    ).toMatchObject([
      {
        conversation: "c1",
        items: [
          {
            body: {
              kind: "message",
              role: "user",
              prompt: {
                server: names[0],
                prompt: "plan_trip",
                arguments: { country: "fr", city: "Pau" },
              },
            },
          },
        ],
      },
    ]);
  });

  // [prompts-validate-io]
  it("marks missing arguments instead of calling the server", async () => {
    const user = userEvent.setup();
    render(PromptDialog, { open: true, conversation: "c1" });
    await user.click(await screen.findByRole("option", { name: /Plan a trip/ }));
    await user.click(await screen.findByRole("button", { name: "Preview" }));
    expect(
      screen.getByText("Fill this in."),
      "the missing argument should be marked",
    ).toBeInTheDocument();
    expect(host.requests("get_prompt"), "the server should not be called").toEqual([]);
  });

  it("previews a prompt without arguments at once", async () => {
    const user = userEvent.setup();
    render(PromptDialog, { open: true, conversation: "c1" });
    await user.click(await screen.findByRole("option", { name: /greet/ }));
    expect(
      await screen.findByText("greet {}"),
      "the preview should be shown at once",
    ).toBeInTheDocument();
  });

  it("shows that a prompt counts as reviewed once it was previewed", async () => {
    const user = userEvent.setup();
    const marks = REVIEWED_DEFINITION.marks;
    let review: "new" | "reviewed" = "new";
    host.answers.read_catalog = ({ server }) => ({
      ...{ server, tools: [], resources: [], templates: [], notes: [], freshUntil: NO_EXPIRY },
      prompts: server === names[0] ? [prompt("greet", { marks: { ...marks, review } })] : [],
    });
    render(PromptDialog, { open: true, conversation: "c1" });
    await user.click(await screen.findByRole("option", { name: /greet/ }));
    await screen.findByText("greet {}");
    expect(screen.getByText(NOT_REVIEWED)).toBeVisible();
    review = "reviewed";
    host.send({ type: "catalog_changed", server: names[0] });
    await waitFor(() => expect(screen.queryByText(NOT_REVIEWED)).toBeNull());
  });

  it("cancels a slow prompt and ignores a late result", async () => {
    const user = userEvent.setup();
    let answer: (result: never) => void = () => undefined;
    host.answers.get_prompt = () => new Promise((resolve) => (answer = resolve));
    render(PromptDialog, { open: true, conversation: "c1" });
    await user.click(await screen.findByRole("option", { name: /greet/ }));
    await user.click(await screen.findByRole("button", { name: "Cancel" }));
    const [request] = host.requests("get_prompt");
    expect(host.requests("cancel_call"), "this call should be cancelled").toEqual([
      { call: request?.call },
    ]);
    answer({
      description: null,
      messages: [{ role: "user", content: [{ type: "text", text: "late" }] }],
    } as never);
    await waitFor(() =>
      expect(screen.queryByText("late"), "the late result should be ignored").toBeNull(),
    );
  });

  it("drops a result for other arguments", async () => {
    const user = userEvent.setup();
    let answer: (result: never) => void = () => undefined;
    host.answers.get_prompt = () => new Promise((resolve) => (answer = resolve));
    render(PromptDialog, { open: true, conversation: "c1" });
    await user.click(await screen.findByRole("option", { name: /Plan a trip/ }));
    const country = await screen.findByRole("combobox", { name: /country required/ });
    await user.type(country, "fr{Enter}");
    const [request] = host.requests("get_prompt");
    expect(request?.arguments, "the current arguments should be sent").toEqual({ country: "fr" });
    expect(request?.hash, "the hash of the shown prompt should be sent").toBe(
      REVIEWED_DEFINITION.hash,
    );
    await user.type(country, "x");
    expect(host.requests("cancel_call"), "the outdated call should be cancelled").toEqual([
      { call: request?.call },
    ]);
    answer({
      description: null,
      messages: [{ role: "user", content: [{ type: "text", text: "about fr" }] }],
    } as never);
    await waitFor(() =>
      expect(
        screen.getByRole("button", { name: "Preview" }),
        "the button should be enabled again",
      ).toBeEnabled(),
    );
    expect(screen.queryByText("about fr"), "the outdated result should not be shown").toBeNull();
  });

  it("shows the error of the server", async () => {
    const user = userEvent.setup();
    host.answers.get_prompt = () => {
      throw { code: "server", message: "no such city" };
    };
    render(PromptDialog, { open: true, conversation: "c1" });
    await user.click(await screen.findByRole("option", { name: /greet/ }));
    expect(
      await screen.findByText("no such city"),
      "the error should be shown",
    ).toBeInTheDocument();
  });

  it("shows that nothing matches", async () => {
    const user = userEvent.setup();
    const onclose = vi.fn();
    render(PromptDialog, { open: true, conversation: "c1", onclose });
    await screen.findByRole("option", { name: /greet/ });
    await user.type(screen.getByRole("combobox"), "zzzz");
    expect(
      screen.getByText("Nothing matches."),
      "the empty result should be shown",
    ).toBeInTheDocument();
    await user.keyboard("{Enter}");
    expect(onclose, "Enter should select nothing").not.toHaveBeenCalled();
    await user.keyboard("{Escape}");
    await waitFor(() =>
      expect(onclose, "the picker should close without a selection").toHaveBeenCalledWith(false),
    );
  });
});

describe("a server's prompts", () => {
  it("are listed, and inserted into a new conversation", async () => {
    const user = userEvent.setup();
    const server = sampleServer({ name: names[1] });
    const { rerender } = render(PromptsTab, { server });
    await user.click(await screen.findByRole("option", { name: /summarize/ }));
    expect(router.current, "the prompt should be opened").toEqual({
      ...{ at: "server", name: names[1], tab: "prompts", item: "summarize" },
    });
    await rerender({ server, item: "summarize" });
    await user.click(screen.getByRole("button", { name: "Preview" }));
    await user.click(await screen.findByRole("button", { name: "Insert into the conversation" }));
    await waitFor(() =>
      expect(router.current, "the new conversation should be opened").toEqual({
        at: "conversation",
        id: "new",
      }),
    );
    expect(await axeProblems(), "axe should find no violations").toEqual([]);
  });

  it("show an empty state", async () => {
    host.answers.read_catalog = ({ server }) => ({
      ...{
        server,
        tools: [],
        prompts: [],
        resources: [],
        templates: [],
        notes: [],
        freshUntil: NO_EXPIRY,
      },
    });
    render(PromptsTab, { server: sampleServer({ name: names[0] }) });
    expect(
      await screen.findByText("No prompts"),
      "the empty state should be shown",
    ).toBeInTheDocument();
  });
});
