// Settings of a conversation in the real page: model parameters, which its model receives, and saved system prompts.
import { Provider } from "../provider.cjs";
import {
  axeViolations,
  expect,
  test as base,
  visit,
  type DevHost,
} from "./fixtures";
import type { Page } from "@playwright/test";
import { scenarioSetup } from "./scenario";

const KEY = "sk-canary-settings-61c3";

const test = base.extend<{ provider: Provider }>({
  provider: [
    async ({ host }, use) => {
      const provider = await Provider.start(KEY);
      await provider.setUpIn(host);
      await use(provider);
      await provider.stop();
    },
    { auto: true },
  ],
});

async function openConversation(
  app: Page,
  host: DevHost,
  model = "gpt-4o",
  servers: object[] = [],
): Promise<void> {
  const { id } = await host.call<{ id: string }>("create_conversation", {
    title: "Talk",
  });
  const settings = {
    model: { provider: "fake", model },
    ...{ systemPrompt: "", servers, shareRoots: false, thinking: false },
  };
  await host.call("set_conversation", { conversation: id, settings });
  await visit(app, `#/conversation/${id}`);
  await expect(app.getByTestId("composer")).toBeVisible();
}

async function openSettings(app: Page, item: string) {
  await app.getByRole("button", { name: "More for this conversation" }).click();
  await app.getByRole("menuitem", { name: item }).click();
  return app.getByRole("dialog", { name: item });
}

/** Takes screenshots in a wide and a narrow window, in which nothing is cut off. */
async function screenshots(app: Page, name: string): Promise<void> {
  expect(await axeViolations(app), "axe should find no violations").toEqual([]);
  for (const width of [480, 1180]) {
    await app.setViewportSize({ width, height: 800 });
    const over = () =>
      app.evaluate(
        () =>
          document.documentElement.scrollWidth -
          document.documentElement.clientWidth,
      );
    await expect
      .poll(over, "nothing should be cut off at the side")
      .toBeLessThanOrEqual(0);
    await app.screenshot({
      path: test.info().outputPath(`${name}-${width}.png`),
    });
  }
}

async function sendMessage(app: Page, text: string): Promise<void> {
  await app.getByRole("textbox", { name: "Message" }).fill(text);
  await app.getByRole("button", { name: "Send", exact: true }).click();
  await expect(
    app.getByRole("log").getByText("Hello! Grüße").last(),
  ).toBeVisible();
}

test("model parameters are sent to the model and stored with the conversation", async ({
  app,
  host,
  provider,
}) => {
  await openConversation(app, host);
  const dialog = await openSettings(app, "Model parameters");
  await dialog.getByRole("textbox", { name: "Temperature" }).fill("2.5");
  await expect(
    dialog.getByText("Enter a number from 0 to 2, or nothing."),
    "a value out of bounds should be rejected",
  ).toBeVisible();
  await screenshots(app, "model-parameters");
  await dialog.getByRole("textbox", { name: "Temperature" }).fill("0.25");
  await dialog.getByRole("textbox", { name: /^Maximum length/ }).fill("900");
  await dialog.getByRole("button", { name: "Save", exact: true }).click();
  await expect(dialog).toHaveCount(0);
  await sendMessage(app, "say hello");
  const body = (await provider.requestBodies()).at(-1);
  expect(
    [body?.temperature, body?.max_tokens],
    "the model should receive the parameters",
  ).toEqual([0.25, 900]);
  await app.reload();
  const again = await openSettings(app, "Model parameters");
  await expect(
    again.getByRole("textbox", { name: "Temperature" }),
    "the parameters should be restored after a reload",
  ).toHaveValue("0.25");
  await expect(
    again.getByRole("textbox", { name: /^Maximum length/ }),
  ).toHaveValue("900");
});

test("a system prompt is saved, chosen in another conversation, renamed and deleted", async ({
  app,
  host,
  provider,
}) => {
  await openConversation(app, host);
  let dialog = await openSettings(app, "System prompt");
  await dialog
    .getByRole("textbox", { name: "System prompt" })
    .fill("Answer like a pilot.");
  await dialog.getByRole("button", { name: "Save under a name" }).click();
  await app.keyboard.type("Pilot");
  await app.keyboard.press("Enter");
  await expect(dialog.getByText("Saved as Pilot.")).toBeVisible();
  await dialog.getByRole("button", { name: "Cancel" }).click();

  await openConversation(app, host);
  dialog = await openSettings(app, "System prompt");
  await dialog
    .getByRole("combobox", { name: "Saved prompts" })
    .selectOption("Pilot");
  await expect(
    dialog.getByRole("textbox", { name: "System prompt" }),
  ).toHaveValue("Answer like a pilot.");
  await dialog.getByRole("button", { name: "Rename" }).click();
  await screenshots(app, "saved-prompts");
  await dialog
    .getByRole("textbox", { name: "Name of the prompt" })
    .fill("Harbour pilot");
  await dialog.getByRole("button", { name: "Save the name" }).click();
  await expect(dialog.getByText("Saved as Harbour pilot.")).toBeVisible();
  await dialog.getByRole("button", { name: "Save", exact: true }).click();
  await expect(dialog).toHaveCount(0);
  await sendMessage(app, "say hello");
  expect(
    JSON.stringify((await provider.requestBodies()).at(-1)?.messages),
  ).toContain("Answer like a pilot.");

  dialog = await openSettings(app, "System prompt");
  await dialog
    .getByRole("combobox", { name: "Saved prompts" })
    .selectOption("Harbour pilot");
  await dialog.getByRole("button", { name: "Delete", exact: true }).click();
  await dialog.getByRole("button", { name: "Delete this prompt" }).click();
  await expect(dialog.getByText("Saved prompt deleted.")).toBeVisible();
  await expect(
    dialog.getByRole("combobox", { name: "Saved prompts" }),
  ).toHaveCount(0);
});

test.describe("with seventeen tools and a model whose context size is unknown", () => {
  const description = `Describes a part of the harbour. ${"It says how the part is used. ".repeat(15)}`;
  const names = Array.from({ length: 17 }, (_, index) => `part_${index + 1}`);
  const tools = names.map((name) => ({
    name,
    description,
    inputSchema: { type: "object" },
  }));
  test.use({ setup: scenarioSetup({ tools }) });

  test("E5: all tools are sent until the user chooses a search, which the button shows", async ({
    app,
    host,
    provider,
  }) => {
    await visit(app, "#/server/harbour/tools");
    await app.getByRole("button", { name: /^Review 17 new tools/ }).click();
    await expect(
      app
        .getByRole("dialog")
        .getByText("Definition of part_1", { exact: true }),
      "the tools should be listed",
    ).toBeVisible();
    await app
      .getByRole("button", { name: "Mark 17 tools as reviewed" })
      .click();
    await expect(
      app.getByRole("button", { name: /^Review \d+ new tool/ }),
      "all tools should be reviewed",
    ).toHaveCount(0);
    await openConversation(app, host, "unknown-model", [
      { server: "harbour", tools: null, instructions: null },
    ]);
    const sentTools = async () => {
      const sent = (await provider.requestBodies()).at(-1)?.tools ?? [];
      return sent.map((tool) => tool.function.name).sort();
    };
    await sendMessage(app, "say hello");
    expect(await sentTools(), "all tools should be sent").toEqual(
      names.map((name) => `harbour__${name}`).sort(),
    );

    const button = app
      .getByTestId("composer")
      .getByRole("button", { name: /^Tools of harbour/ });
    await expect(
      button,
      "the button should mention no search",
    ).not.toHaveAccessibleName(/by search/);
    await button.click();
    const dialog = app.getByRole("dialog");
    await expect(
      dialog.getByRole("status"),
      "the size of all definitions should be shown",
    ).toContainText(/17 tools.*tokens/i);
    await dialog.getByRole("button", { name: /harbour/ }).click();
    await expect(
      dialog.getByRole("checkbox", { name: "part_3", exact: true }),
      "the size of each definition should be shown",
    ).toHaveAccessibleDescription(/\d+ tokens/);
    await dialog
      .getByRole("combobox", { name: "Tools for the model" })
      .selectOption("search");
    await app.keyboard.press("Escape");
    await expect(
      button,
      "the button should show the search",
    ).toHaveAccessibleName(/by search/);
    await sendMessage(app, "say hello again");
    await expect
      .poll(sentTools, {
        message: "the model should receive a search instead of the tools",
      })
      .toEqual(["search_tools"]);
  });
});
