import { cleanup, fireEvent, render, screen, waitFor, within } from "@testing-library/svelte";
import { afterEach, describe, expect, it, vi } from "vitest";

import type { Model, ModelProvider, Models, ProviderPreset } from "$lib/api/generated";
import { router } from "$lib/state/router.svelte";
import { axeProblems } from "$lib/testing/axe";
import { selectOption } from "$lib/testing/select-option";
import { startFakeHost } from "$lib/testing/fake-host";
import { settle } from "$lib/testing/settle";

import { refusedWithoutKey } from "./missing-keys.svelte";
import { unusedId, idFromName, isUnencrypted } from "./provider-draft";
import ModelsView from "./ModelsView.svelte";
import { modelProblemLabel } from "./model-labels";

afterEach(() => cleanup());

function model(id: string, changes: Partial<Model> = {}): Model {
  const unknown = { images: null, audio: null, files: null, tools: null, thinking: null };
  return { id, name: id, context: null, maxOutput: null, price: null, ...unknown, ...changes };
}

function provider(changes: Partial<ModelProvider> = {}): ModelProvider {
  return {
    id: "openai",
    name: "OpenAI",
    kind: "openai",
    url: "https://api.openai.com/v1",
    silenceSeconds: null,
    losses: [
      {
        feature: "imageInToolResult",
        conversion: "sendAfter",
        choices: ["refuse", "sendAfter", "leaveOut"],
      },
    ],
    hasKey: true,
    local: false,
    isUnencrypted: false,
    models: [
      model("gpt-small", {
        context: 128_000,
        price: { input: 0.15, output: 0.6, currency: "USD", asOf: "2026-11-21" },
        tools: true,
      }),
      model("gpt-odd"),
    ],
    listedAt: 1_785_000_000_000,
    problem: null,
    ...changes,
  };
}

const presets: ProviderPreset[] = [
  {
    id: "openai",
    name: "OpenAI",
    kind: "openai",
    url: "https://api.openai.com/v1",
    requiresKey: true,
    keyPageUrl: "https://platform.openai.com/api-keys",
  },
  {
    id: "ollama",
    name: "Ollama",
    kind: "ollama",
    url: "http://127.0.0.1:11434",
    requiresKey: false,
    keyPageUrl: null,
  },
];

const having = (changes: Partial<Models> = {}): Models => ({
  providers: [provider()],
  default: null,
  found: [],
  presets,
  ...changes,
});

describe("the page of models", () => {
  it("adds a provider with its key, and tests it at once", async () => {
    let models = having({ providers: [] });
    const host = await startFakeHost({
      list_models: () => models,
      set_provider: () => {
        models = having({ providers: [provider({ listedAt: null, models: [] })] });
        return {};
      },
      set_provider_key: () => ({ onlyThisRun: null }),
      test_provider: () => ({
        ...{ models: 2, reply: null, firstTokenMilliseconds: null, problem: null },
      }),
    });
    render(ModelsView);
    await screen.findByText("No providers yet");
    await fireEvent.click(screen.getByRole("button", { name: "Add a provider" }));
    const dialog = within(await screen.findByRole("dialog"));
    const key = dialog.getByLabelText<HTMLInputElement>("Key");
    expect(key.type, "the key should be hidden").toBe("password");
    await fireEvent.input(key, { target: { value: "sk-canary" } });
    await fireEvent.click(dialog.getByRole("button", { name: "Add" }));
    await waitFor(() => expect(host.requests("set_provider_key").length).toBe(1));
    expect(host.requests("set_provider_key")[0], "the key should be sent to the host").toEqual({
      id: "openai",
      key: "sk-canary",
    });
    expect(host.requests("set_provider")[0]?.url, "the address of the preset should be sent").toBe(
      "https://api.openai.com/v1",
    );
    host.send({ type: "models_changed" });
    await waitFor(() =>
      expect(host.requests("test_provider").length, "the provider should be tested").toBe(1),
    );
    expect(document.body.innerHTML, "the page should not contain the key").not.toContain("canary");
  });

  it("focuses the provider of the route", async () => {
    router.go({ at: "models", provider: "two" });
    const providers = [provider(), provider({ id: "two", name: "Second" })];
    await startFakeHost({ list_models: () => having({ providers }) });
    render(ModelsView);
    const card = await screen.findByRole("article", { name: "Second" });
    await waitFor(() => expect(card).toHaveFocus());
    expect(await axeProblems(), "axe should find no violations").toEqual([]);
  });

  it("marks a local provider whose key was missing for an answer, and opens its field", async () => {
    const local = { local: true, hasKey: false };
    const providers = [provider({ ...local, name: "First" }), provider({ ...local, id: "two" })];
    const host = await startFakeHost({ list_models: () => having({ providers }) });
    refusedWithoutKey.add(providers[0]!.id);
    render(ModelsView);
    const card = within(await screen.findByRole("article", { name: "First" }));
    expect(card.getByText("No key")).toBeVisible();
    expect(card.getByLabelText("Key"), "the field should be shown").toBeVisible();
    expect(screen.getAllByText("No key"), "another local provider may need none").toHaveLength(1);
    host.answers.list_models = () =>
      having({ providers: providers.map((one) => ({ ...one, hasKey: true })) });
    host.send({ type: "models_changed" });
    await waitFor(() => expect(screen.queryByText("No key")).toBeNull());
  });

  it("explains why a provider does not answer", async () => {
    await startFakeHost({
      list_models: () => having(),
      test_provider: () => ({
        models: 0,
        reply: null,
        firstTokenMilliseconds: null,
        problem: { code: "wrongKey", message: "the provider rejects the key" },
      }),
    });
    render(ModelsView);
    await fireEvent.click(await screen.findByRole("button", { name: "Test OpenAI" }));
    const words = await screen.findByText(/Enter another key/);
    expect(words, "the cause and the remedy should be shown").toHaveTextContent(
      "does not accept the key",
    );
    expect(await axeProblems(), "axe should find no violations").toEqual([]);
  });

  it("says the cause of a problem once", async () => {
    const message =
      "the provider can't be reached (Connection refused); check the address in Models";
    const problem = { code: "unreachable" as const, message, cause: "Connection refused" };
    await startFakeHost({ list_models: () => having({ providers: [provider({ problem })] }) });
    render(ModelsView);
    const note = await screen.findByText("Connection refused");
    expect(note).toBeVisible();
    expect(screen.getAllByText(/can't be reached/), "it should not be repeated").toHaveLength(1);
  });

  it("E31: keeps the key field expanded when the provider is updated", async () => {
    let stored = provider();
    const host = await startFakeHost({ list_models: () => having({ providers: [stored] }) });
    render(ModelsView);
    const place = (await screen.findByText("New key")).closest("details")!;
    const read = async (changes: Partial<ModelProvider>) => {
      const before = host.requests("list_models").length;
      stored = provider(changes);
      host.send({ type: "models_changed" });
      await settle();
      expect(host.requests("list_models").length, "the providers should be read again").toBe(
        before + 1,
      );
    };
    vi.useFakeTimers();
    place.open = true;
    await fireEvent(place, new Event("toggle"));
    await read({ problem: { code: "wrongKey", message: "the provider rejects the key" } });
    expect(place.open, "the section should not be closed").toBe(true);
    place.open = false;
    await fireEvent(place, new Event("toggle"));
    const problem = { code: "noKey" as const, message: "a key is missing" };
    await read({ hasKey: false, problem });
    expect(place.open, "the section should be expanded if the key is missing").toBe(true);
    await read({});
    expect(place.open, "the section should be collapsed once the key is set").toBe(false);
  });

  it("clears old results and asks for the key again when the address changes", async () => {
    let stored = provider();
    const host = await startFakeHost({
      list_models: () => having({ providers: [stored] }),
      test_provider: () => ({
        ...{ models: 0, reply: null, firstTokenMilliseconds: null },
        problem: { code: "unreachable", message: "connection refused" },
      }),
    });
    render(ModelsView);
    await fireEvent.click(await screen.findByRole("button", { name: "Test OpenAI" }));
    await screen.findByText(/can't be reached/);
    expect(screen.queryByText(/The address changed/)).toBeNull();
    stored = provider({ url: "https://other.example/v1", hasKey: false });
    host.send({ type: "models_changed" });
    const note = await screen.findByText(/The address changed, so the key is not used/);
    expect(note).toBeVisible();
    expect(screen.queryByText(/can't be reached/), "the old result should be cleared").toBeNull();
    const place = screen.getByText("New key").closest("details")!;
    expect(place.open, "the key field should be expanded").toBe(true);
    stored = provider({ url: "https://other.example/v1" });
    host.send({ type: "models_changed" });
    await waitFor(() => expect(screen.queryByText(/The address changed/)).toBeNull());
  });

  it("shows an address set by another process, and uses it only after confirmation", async () => {
    const message =
      "its address was changed outside of Drawbridge from https://api.openai.com/v1 to https://evil.example/v1";
    const moved = provider({
      url: "https://evil.example/v1",
      problem: { code: "unconfirmed", message },
    });
    const host = await startFakeHost({
      list_models: () => having({ providers: [moved] }),
      set_provider: () => ({}),
    });
    render(ModelsView);
    const words = await screen.findByText(/from https:\/\/api\.openai\.com/);
    expect(words, "the old and the new address should be shown").toHaveTextContent("evil.example");
    expect(host.requests("set_provider"), "nothing should be confirmed automatically").toEqual([]);
    await fireEvent.click(screen.getByRole("button", { name: "Use this address for OpenAI" }));
    await waitFor(() =>
      expect(host.requests("set_provider")[0]?.url, "the shown address should be confirmed").toBe(
        "https://evil.example/v1",
      ),
    );
  });

  it("shows the properties of models, and sets the default", async () => {
    const host = await startFakeHost({ list_models: () => having() });
    render(ModelsView);
    await fireEvent.click(await screen.findByText("2 models"));
    const [, small, odd] = screen.getAllByRole("row");
    expect(small, "the context and the price should be shown").toHaveTextContent(
      /128K.*\$0.15 in, \$0.60 out.*tools/,
    );
    expect(screen.getByText("Prices as of Nov 21, 2026")).toBeVisible();
    expect(odd, "unknown properties should be shown as unknown").toHaveTextContent("unknown");
    const name = "Use gpt-small by default";
    await fireEvent.click(screen.getByRole("button", { name }));
    await waitFor(() =>
      expect(host.requests("set_default_model")).toEqual([
        { model: { provider: "openai", model: "gpt-small" } },
      ]),
    );
  });

  it("E23: states that keys are stored only if the keychain stores them", async () => {
    await startFakeHost({
      list_models: () => having(),
      read_secrets_status: () => ({ is: "keychain" }),
    });
    const { unmount } = render(ModelsView);
    expect(await screen.findByText(/Keys are encrypted/)).toBeInTheDocument();
    unmount();
    await startFakeHost({
      list_models: () => having(),
      read_secrets_status: () => ({ is: "missing", cause: "nothing answers" }),
    });
    render(ModelsView);
    expect(await screen.findByText(/lost when Drawbridge closes/)).toBeInTheDocument();
    expect(screen.queryByText(/are encrypted/i), "encryption should not be claimed").toBeNull();
  });

  it("E23: checks the key storage again once the keychain may be unlocked", async () => {
    const host = await startFakeHost({
      list_models: () => having(),
      read_secrets_status: () => ({ is: "locked", cause: "it is locked" }),
    });
    render(ModelsView);
    expect(await screen.findByText(/lost when Drawbridge closes/)).toBeInTheDocument();
    host.answers.read_secrets_status = () => ({ is: "keychain" });
    await fireEvent.focus(window);
    expect(
      await screen.findByText(/Keys are encrypted/),
      "the storage should be checked again when the window is focused",
    ).toBeInTheDocument();
    host.answers.read_secrets_status = () => ({ is: "locked", cause: "it is locked" });
    host.send({ type: "models_changed" });
    expect(await screen.findByText(/lost when Drawbridge closes/)).toBeInTheDocument();
  });

  it.each([
    [null, "Key set."],
    ["it is locked", "Key saved until Drawbridge closes."],
  ])("shows how long an entered key is stored (%s)", async (onlyThisRun, words) => {
    await startFakeHost({ list_models: () => having(), set_provider_key: () => ({ onlyThisRun }) });
    render(ModelsView);
    await fireEvent.input(await screen.findByLabelText("Key"), { target: { value: "sk-1" } });
    await fireEvent.click(screen.getByRole("button", { name: "Save the key" }));
    expect(await screen.findByText(words)).toBeInTheDocument();
  });

  it("sets the handling of unsupported content", async () => {
    const host = await startFakeHost({ list_models: () => having() });
    render(ModelsView);
    await fireEvent.click(await screen.findByText("Fallbacks for unsupported content"));
    await selectOption(screen.getByRole("combobox", { name: "Images in tool results" }), "refuse");
    await waitFor(() =>
      expect(host.requests("set_provider")[0]?.conversions).toEqual([
        { feature: "imageInToolResult", conversion: "refuse" },
      ]),
    );
  });

  it("offers providers found on this computer", async () => {
    const found = [
      { preset: "ollama", name: "Ollama", url: "http://127.0.0.1:11434/", models: ["llama3.2"] },
    ];
    const host = await startFakeHost({ list_models: () => having({ providers: [], found }) });
    render(ModelsView);
    await fireEvent.click(await screen.findByRole("button", { name: "Use Ollama" }));
    await waitFor(() => expect(host.requests("set_provider")[0]?.id).toBe("ollama"));
  });

  it("warns about an unencrypted address for a key", async () => {
    await startFakeHost({ list_models: () => having() });
    render(ModelsView);
    await fireEvent.click(await screen.findByRole("button", { name: "Add a provider" }));
    const dialog = within(await screen.findByRole("dialog"));
    const url = dialog.getByLabelText("Address");
    await fireEvent.input(url, { target: { value: "http://192.168.1.7:8000/v1" } });
    expect(dialog.getByText(/can read the key/), "the warning should be shown").toBeInTheDocument();
  });
});

describe("a draft", () => {
  it("gets a valid unused id", () => {
    expect(
      unusedId("openai", ["openai", "openai-2"]),
      "the next unused number should be appended",
    ).toBe("openai-3");
    expect(
      idFromName("My Lab / GPU 1", []),
      "the id should consist of letters, digits and dashes",
    ).toBe("my-lab-gpu-1");
    expect(idFromName("模型", []), "a name without Latin letters should get a general id").toBe(
      "provider",
    );
  });

  it("detects unencrypted addresses", () => {
    for (const url of ["https://a.example/v1", "http://127.0.0.1:1234", "http://localhost", "x"]) {
      expect(isUnencrypted(url), url).toBe(false);
    }
    for (const url of ["http://a.example/v1", "http://10.0.0.1", "http://127.evil.example"]) {
      expect(isUnencrypted(url), url).toBe(true);
    }
  });

  it("describes the cause and remedy of a problem", () => {
    expect(modelProblemLabel({ code: "noKey" })).toBe(
      "No key was entered for the provider. Enter its key.",
    );
  });
});
