import { cleanup, render, screen, waitFor, within } from "@testing-library/svelte";
import userEvent from "@testing-library/user-event";
import { afterEach, expect, test } from "vitest";

import { MAX_SAVED_PROMPTS, type SavedSystemPrompt } from "$lib/api/generated";
import { axeProblems } from "$lib/testing/axe";
import { sampleConversation, startFakeHost } from "$lib/testing/fake-host";

import ConversationView from "./ConversationView.svelte";

afterEach(() => cleanup());

const terse: SavedSystemPrompt = { id: "p1", name: "Terse", text: "Be brief." };
const pirate: SavedSystemPrompt = { id: "p2", name: "Pi\u202erate", text: "Say arr." };

/** Opens the dialog on a host that stores these prompts. */
async function openDialog(stored: SavedSystemPrompt[], systemPrompt = "") {
  let prompts = stored;
  const settings = { ...sampleConversation().settings, systemPrompt };
  const host = await startFakeHost({
    read_conversation: () => sampleConversation({ settings }),
    list_system_prompts: () => ({ prompts }),
    save_system_prompt: (saved) => {
      if (prompts.some(({ id, name }) => id !== saved.id && name === saved.name))
        throw { code: "invalid", message: "the name is taken" };
      prompts =
        saved.id === ""
          ? [...prompts, { ...saved, id: "new" }]
          : prompts.map((one) => (one.id === saved.id ? saved : one));
      return { prompts };
    },
    remove_system_prompt: ({ id }) => {
      prompts = prompts.filter((one) => one.id !== id);
      return { prompts };
    },
  });
  render(ConversationView, { id: "c1" });
  const user = userEvent.setup();
  await user.click(await screen.findByRole("button", { name: "More for this conversation" }));
  await user.click(await screen.findByRole("menuitem", { name: "System prompt" }));
  const dialog = within(await screen.findByRole("dialog", { name: "System prompt" }));
  if (stored.length > 0) await dialog.findByRole("combobox", { name: "Saved prompts" });
  const press = (name: string) => user.click(dialog.getByRole("button", { name }));
  return { host, user, dialog, press };
}

test("the current prompt is saved under a name", async () => {
  const { host, user, dialog, press } = await openDialog([]);
  expect(
    dialog.queryByRole("combobox"),
    "there should be no choice without saved prompts",
  ).toBeNull();
  expect(dialog.getByRole("button", { name: "Save under a name" })).toBeDisabled();
  const prompt = dialog.getByRole("textbox", { name: "System prompt" });
  expect(prompt, "the field should be focused").toHaveFocus();
  await user.type(prompt, "Be brief.");
  await press("Save under a name");
  const name = dialog.getByRole("textbox", { name: "Name of the prompt" });
  expect(name).toHaveFocus();
  await user.type(name, " Terse {Enter}");
  expect(await dialog.findByText("Saved as Terse.")).toBeVisible();
  expect(host.requests("save_system_prompt")).toEqual([
    { id: "", name: "Terse", text: "Be brief." },
  ]);
  expect(dialog.getByRole("combobox"), "the saved prompt should be selected").toHaveValue("new");
  expect(host.requests("set_conversation"), "the conversation should be unchanged").toEqual([]);
});

test("a saved prompt is chosen, and used by the conversation", async () => {
  const { host, user, dialog, press } = await openDialog([terse, pirate], "Old.");
  const names = dialog.getAllByRole("option").map((option) => option.textContent);
  expect(names[2], "hidden characters should be replaced").not.toContain("\u202e");
  await user.selectOptions(dialog.getByRole("combobox"), "p2");
  expect(dialog.getByRole("textbox", { name: "System prompt" })).toHaveValue("Say arr.");
  expect(await axeProblems(), "axe should find no violations").toEqual([]);
  await press("Save");
  await waitFor(() =>
    expect(host.requests("set_conversation")[0]?.settings.systemPrompt).toBe("Say arr."),
  );
});

test("Undo restores the text that chosen prompts replaced", async () => {
  const { user, dialog, press } = await openDialog([terse, pirate], "Old.");
  const prompt = dialog.getByRole("textbox", { name: "System prompt" });
  const choice = dialog.getByRole("combobox");
  await user.type(prompt, " Unsaved.");
  await user.selectOptions(choice, "p1");
  await user.selectOptions(choice, "p2");
  expect(prompt).toHaveValue("Say arr.");
  await press("Undo");
  expect(prompt, "the text should be restored").toHaveValue("Old. Unsaved.");
  expect(choice, "the choice should be cleared").toHaveValue("");
  expect(dialog.queryByRole("button", { name: "Undo" })).toBeNull();
  await user.selectOptions(choice, "p2");
  await user.type(prompt, " Ahoy.");
  expect(
    dialog.queryByRole("button", { name: "Undo" }),
    "Undo should not be offered after further edits",
  ).toBeNull();
  await user.clear(prompt);
  await user.selectOptions(choice, "p1");
  expect(
    dialog.queryByRole("button", { name: "Undo" }),
    "Undo should not be offered if nothing was replaced",
  ).toBeNull();
});

test("the text of a saved prompt is replaced after confirmation", async () => {
  const { host, user, dialog, press } = await openDialog([terse, pirate]);
  await user.selectOptions(dialog.getByRole("combobox"), "p1");
  expect(
    dialog.getByRole("button", { name: "Replace" }),
    "Replace should be disabled for equal texts",
  ).toBeDisabled();
  await user.type(dialog.getByRole("textbox", { name: "System prompt" }), " Always.");
  await press("Replace");
  expect(
    host.requests("save_system_prompt"),
    "nothing should be replaced before the confirmation",
  ).toEqual([]);
  await press("Replace the saved text");
  expect(await dialog.findByText("Saved as Terse.")).toBeVisible();
  const text = "Be brief. Always.";
  expect(host.requests("save_system_prompt")).toEqual([{ ...terse, text }]);
  expect(dialog.getByRole("combobox"), "the prompt should stay selected").toHaveValue("p1");
});

test("a saved prompt is renamed, and keeps its text", async () => {
  const { host, user, dialog, press } = await openDialog([terse, pirate]);
  await user.selectOptions(dialog.getByRole("combobox"), "p1");
  await user.type(dialog.getByRole("textbox", { name: "System prompt" }), " Always.");
  await press("Rename");
  const name = dialog.getByRole("textbox", { name: "Name of the prompt" });
  expect(name).toHaveValue("Terse");
  await user.clear(name);
  await user.type(name, pirate.name);
  await press("Save the name");
  expect(
    await dialog.findByText("the name is taken"),
    "a name of another prompt should be rejected",
  ).toBeVisible();
  await user.clear(name);
  await user.type(name, "Brief");
  await press("Save the name");
  expect(await dialog.findByRole("option", { name: "Brief" })).toBeInTheDocument();
  expect(host.requests("save_system_prompt").at(-1)).toEqual({ ...terse, name: "Brief" });
});

test("a saved prompt is deleted after confirmation", async () => {
  const { host, user, dialog, press } = await openDialog([terse, pirate]);
  await user.selectOptions(dialog.getByRole("combobox"), "p1");
  await press("Delete");
  expect(
    host.requests("remove_system_prompt"),
    "nothing should be deleted before the confirmation",
  ).toEqual([]);
  await press("Back");
  await press("Delete");
  await press("Delete this prompt");
  expect(await dialog.findByText("Saved prompt deleted.")).toBeVisible();
  expect(host.requests("remove_system_prompt")).toEqual([{ id: "p1" }]);
  expect(dialog.queryByRole("option", { name: "Terse" })).toBeNull();
  expect(
    dialog.getByRole("textbox", { name: "System prompt" }),
    "the text should stay in the conversation",
  ).toHaveValue("Be brief.");
});

test("no more can be saved than the limit", async () => {
  const all = Array.from({ length: MAX_SAVED_PROMPTS }, (_, i) => ({
    ...terse,
    ...{ id: `p${i}`, name: `Prompt ${i}` },
  }));
  const { dialog } = await openDialog(all, "Old.");
  expect(dialog.getByRole("button", { name: "Save under a name" })).toBeDisabled();
  expect(dialog.getByText(/At most 100 prompts/)).toBeVisible();
});
