// Visits the models of a provider, and the dialogs of a conversation.
import { expect, type Page } from "@playwright/test";

import { Provider } from "../provider.cjs";
import type { DevHost } from "./dev-host";
import { visit } from "./fixtures";
import type { OnView } from "./visit-views";

/** Visits the models of a provider, and the dialogs of a conversation with one of them. */
export async function visitModels(app: Page, host: DevHost, onView: OnView, conversation: string): Promise<void> {
  const provider = await Provider.start("sk-canary-views-2c7a");
  try {
    await provider.setUpIn(host);
    await host.call("refresh_models", { id: "fake" });
  } finally {
    await provider.stop();
  }
  await visit(app, "#/models");
  const list = app.locator("main article details:has(table)");
  await list.locator("> summary").click();
  await expect(list.locator("table")).toBeVisible();
  await onView("models");

  const settings = { systemPrompt: "", shareRoots: false, thinking: false };
  const servers = [{ server: "harbour", tools: null, instructions: null }];
  const model = { provider: "fake", model: "gpt-4o" };
  await host.call("set_conversation", { conversation, settings: { ...settings, servers, model } });
  await visit(app, `#/conversation/${conversation}`);
  const dialog = app.getByRole("dialog");
  const onDialog = async (name: string) => {
    await expect(dialog).toBeVisible();
    await onView(name);
    await app.keyboard.press("Escape");
    await expect(dialog).toHaveCount(0);
  };
  await app.locator("main .bar button:has(.servers)").click();
  await onDialog("conversation-servers");
  for (const [at, name] of ["system-prompt", "model-parameters"].entries()) {
    await app.locator("main header button[aria-haspopup=menu]").first().click();
    await app.getByRole("menuitem").nth(at).click();
    await onDialog(name);
  }
  // Without a model, the user writes the replies to sampling requests.
  await host.call("remove_provider", { id: "fake" });
}
