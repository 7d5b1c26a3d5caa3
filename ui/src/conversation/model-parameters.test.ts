import { cleanup, render, screen, waitFor, within } from "@testing-library/svelte";
import userEvent from "@testing-library/user-event";
import { afterEach, expect, test } from "vitest";

import type { ConversationSettings, Models } from "$lib/api/generated";
import { axeProblems } from "$lib/testing/axe";
import { sampleConversation, startFakeHost } from "$lib/testing/fake-host";

import ConversationView from "./ConversationView.svelte";
import { parameterLimits, parseTemperature, parseTokens } from "./model-parameters";

afterEach(() => cleanup());

const model = { provider: "lab", model: "small" };
const unknown = { images: null, audio: null, files: null, tools: null, thinking: null };
const models: Models = {
  providers: [
    {
      ...{ id: "lab", name: "Lab", kind: "anthropic", url: "https://lab.example/v1" },
      ...{ silenceSeconds: null, hasKey: true, local: false, isUnencrypted: false, listedAt: 1 },
      losses: [{ feature: "temperature", conversion: "leaveOut", choices: [] }],
      models: [
        {
          ...{ id: "small", name: "Small", context: null, maxOutput: 4096 },
          price: null,
          ...unknown,
        },
      ],
      problem: null,
    },
  ],
  ...{ default: null, found: [], presets: [] },
};

async function openForm(changes: Partial<ConversationSettings> = {}) {
  const settings = { ...sampleConversation().settings, model, ...changes };
  const host = await startFakeHost({
    read_conversation: () => sampleConversation({ settings }),
    list_models: () => models,
  });
  render(ConversationView, { id: "c1" });
  const user = userEvent.setup();
  await screen.findByRole("option", { name: "Small (Lab)" });
  await user.click(screen.getByRole("button", { name: "More for this conversation" }));
  await user.click(await screen.findByRole("menuitem", { name: "Model parameters" }));
  const form = await screen.findByRole("dialog", { name: "Model parameters" });
  const temperature = within(form).getByRole("textbox", { name: "Temperature" });
  const tokens = within(form).getByRole("textbox", { name: /^Maximum length/ });
  const save = () => user.click(within(form).getByRole("button", { name: "Save" }));
  return { host, user, form, temperature, tokens, save };
}

test("parameters are entered, stored and shown again", async () => {
  const { host, user, form, temperature, tokens, save } = await openForm();
  expect(temperature, "the parameter should be unset at first").toHaveValue("");
  expect(form, "the form should mention that the model may not accept it").toHaveTextContent(
    /do not accept it/,
  );
  await user.type(temperature, "0.4");
  await user.type(tokens, "900");
  expect(await axeProblems(), "axe should find no violations").toEqual([]);
  await save();
  await waitFor(() => expect(screen.queryByRole("dialog"), "the dialog should close").toBeNull());
  expect(host.requests("set_conversation").at(-1)?.settings).toMatchObject({
    ...{ temperature: 0.4, maxTokens: 900, systemPrompt: "", model },
  });
  await user.click(screen.getByRole("button", { name: "More for this conversation" }));
  await user.click(await screen.findByRole("menuitem", { name: "Model parameters" }));
  expect(await screen.findByRole("textbox", { name: "Temperature" })).toHaveValue("0.4");
});

test("stored parameters are restored, and emptied fields unset them", async () => {
  const { host, user, temperature, tokens, save } = await openForm({
    ...{ temperature: 1, maxTokens: 4096 },
  });
  expect(temperature).toHaveValue("1");
  expect(tokens).toHaveValue("4096");
  await user.clear(temperature);
  await user.clear(tokens);
  await save();
  await waitFor(() => expect(host.requests("set_conversation")).toHaveLength(1));
  const sent = JSON.stringify(host.requests("set_conversation")[0]);
  expect(sent, "no parameter should be sent for the default").not.toMatch(/temperature|maxTokens/);
});

test("values out of the model's bounds are reported at their field and not stored", async () => {
  const { host, user, temperature, tokens, save } = await openForm();
  await user.type(temperature, "1.5");
  await user.type(tokens, "5000");
  expect(temperature).toHaveAccessibleDescription(/Enter a number from 0 to 1, or nothing/);
  expect(temperature).toBeInvalid();
  expect(tokens).toHaveAccessibleDescription(/from 1 to 4,096/);
  await save();
  expect(host.requests("set_conversation"), "nothing should be stored").toEqual([]);
  expect(temperature, "the first invalid field should be focused").toHaveFocus();
});

test("a stored value above the limits of the chosen model stays, and is reported as lowered", async () => {
  const { host, user, temperature, tokens, save } = await openForm({ temperature: 1.5 });
  expect(temperature).toHaveValue("1.5");
  expect(temperature, "the stored value should not be invalid").not.toBeInvalid();
  expect(temperature).toHaveAccessibleDescription(/so this value is lowered to 1 for/);
  await user.type(tokens, "900");
  await save();
  await waitFor(() =>
    expect(host.requests("set_conversation")[0]?.settings).toMatchObject({
      ...{ temperature: 1.5, maxTokens: 900 },
    }),
  );
});

test("an edited value above the limits of the chosen model is invalid", async () => {
  const { host, user, temperature, tokens, save } = await openForm({ maxTokens: 9000 });
  expect(tokens).toHaveAccessibleDescription(/lowered to 4,096 for/);
  await user.type(tokens, "1");
  expect(tokens).toHaveAccessibleDescription(/from 1 to 4,096/);
  await save();
  expect(host.requests("set_conversation")).toEqual([]);
  await user.type(temperature, "0.5");
  await user.clear(tokens);
  await save();
  await waitFor(() => expect(host.requests("set_conversation")).toHaveLength(1));
});

test("limits follow the provider and the model", () => {
  const openai = structuredClone(models);
  for (const provider of openai.providers) provider.kind = "openai";
  expect(parameterLimits(models, model)).toEqual({ temperature: 1, tokens: 4096 });
  expect(parameterLimits(openai, model)).toEqual({ temperature: 2, tokens: 4096 });
  expect(parameterLimits(models, null), "there should be general limits without a model").toEqual({
    temperature: 2,
    tokens: 1_000_000,
  });
});

test("only plain numbers within the limits are accepted", () => {
  for (const [text, value] of [
    ["0", 0],
    [" 2 ", 2],
    ["0.25", 0.25],
    ["", undefined],
  ] as const)
    expect(parseTemperature(text, 2), text).toEqual({ value, problem: null });
  for (const text of ["-1", "2.01", "1e0", "0,5", "hot", "Infinity", "0x1"])
    expect(parseTemperature(text, 2).problem, text).not.toBeNull();
  for (const [text, value] of [
    ["1", 1],
    ["4096", 4096],
    ["  ", undefined],
  ] as const)
    expect(parseTokens(text, 4096), text).toEqual({ value, problem: null });
  for (const text of ["0", "4097", "1.5", "-3", "1e3", "many"])
    expect(parseTokens(text, 4096).problem, text).not.toBeNull();
});
