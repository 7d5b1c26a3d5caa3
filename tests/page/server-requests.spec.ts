// Requests of servers: sampling, forms, URLs and roots.
import { mkdtempSync, realpathSync } from "node:fs";
import { join } from "node:path";

import { allow, callTool, ERAS, expect, LEGACY, consentRequest, readRest, test } from "./fixtures";

const URL = "https://permits.example.com/harbour/aurora?day=monday";

for (const [era, setup] of ERAS) {
  test.describe(era, () => {
    test.use({ setup });

    test("sampling: the complete request, a manual response, reviewed and sent", async ({ app }) => {
      await callTool(app, "ask_model");
      await allow(app, "Allow once");
      const frame = consentRequest(app);
      await expect(frame).toContainText("requests an answer from a model");
      for (const part of [
        "You are a friendly harbour master.",
        "Ships, gulls and a red lighthouse.",
        "Is it a good day to sail?",
        "200 tokens",
        "claude-sonnet",
        "low cost 25%",
      ]) {
        await expect(frame, `${part} is shown`).toContainText(part);
      }
      await expect(frame.getByRole("img").first(), "the picture it sends along").toBeVisible();
      await allow(app, "Answer it yourself");
      await frame.getByRole("textbox", { name: "Your answer" }).fill("Stay in the harbour.");
      await frame.getByRole("button", { name: "Review the answer" }).click();
      await expect(frame).toContainText("Sends to harbour as the model's answer:");
      await allow(app, "Send the answer");
      const result = app.getByTestId("tool-result");
      await expect(result).toContainText("user said: Stay in the harbour. (stopped: endTurn)");
    });

    test("sampling denied: the waiting call ends with an explanation", async ({ app }) => {
      await callTool(app, "ask_model");
      await allow(app, "Allow once");
      await expect(consentRequest(app)).toContainText("requests an answer from a model");
      await consentRequest(app).getByRole("button", { name: "Decline" }).click();
      await expect(consentRequest(app)).toBeHidden();
      const result = app.getByTestId("tool-result");
      await expect(result).toHaveAttribute("data-state", /tool_error|failed|refused/);
      await expect(result).toContainText(/fail|refuse|error/i);
    });

    test("a form with every kind of field is validated, then sent", async ({ app }) => {
      await callTool(app, "ask_user");
      await allow(app, "Allow once");
      const frame = consentRequest(app);
      await expect(frame).toContainText("Please announce your ship to the harbour master.");
      await frame.getByRole("textbox", { name: /^Email/ }).fill("not an address");
      await frame.getByRole("textbox", { name: /^Crew/ }).fill("51");
      // The form has default values, and all of it has to be viewed.
      const accept = frame.getByRole("button", { name: "Accept and send" });
      expect(await readRest(app, accept), "[elicit-review]: it can be sent then").toBeGreaterThan(0);
      await accept.click();
      await expect(frame.getByText("Enter an email address.")).toBeVisible();
      await expect(frame.getByText("Too large: at most 50.")).toBeVisible();
      await expect(frame.getByText("Fill this in.").first(), "what is required").toBeVisible();

      await frame.getByRole("textbox", { name: /^Captain/ }).fill("Ann");
      await frame.getByRole("textbox", { name: /^Email/ }).fill("ann@example.com");
      await frame.getByRole("textbox", { name: /^Day of arrival/ }).fill("2026-12-01");
      await frame.getByRole("textbox", { name: /^Last radio call/ }).fill("2026-11-30T10:00:00Z");
      await frame.getByRole("textbox", { name: /^Crew/ }).fill("7");
      await frame.getByRole("checkbox", { name: /A pilot is needed/ }).uncheck();
      await frame.getByRole("radio", { name: "The old quay" }).check();
      await frame.getByRole("checkbox", { name: "Chinese" }).check();
      await allow(app, "Accept and send");
      const result = app.getByTestId("tool-result");
      await expect(result).toContainText("The user accepted and sent the form.");
      // [elicit-review], [elicit-review-early]: values changed after validation are the ones that are sent.
      for (const part of ["Ann", "ann@example.com", "2026-12-01", "quay"]) {
        await expect(result, `${part} reached the server`).toContainText(part);
      }
    });

    for (const [button, outcome] of [
      ["Decline", "declined"],
      ["Cancel", "cancelled"],
    ] as const) {
      test(`a form: ${button} is a distinct response`, async ({ app }) => {
        await callTool(app, "ask_user");
        await allow(app, "Allow once");
        await expect(consentRequest(app)).toContainText("asks you to fill in a form");
        // [elicit-show-server], [elicit-show-server-early]: by the name that the user gave it.
        await expect(consentRequest(app)).toContainText("harbour");
        // [elicit-decline-cancel], [elicit-decline-cancel-early]: each has a button.
        await consentRequest(app).getByRole("button", { name: button, exact: true }).click();
        await expect(app.getByTestId("tool-result")).toContainText(`The user ${outcome}.`);
      });
    }

    test("a URL: shown completely with its domain, opened after consent only", async ({ app, host }) => {
      await callTool(app, "ask_url");
      await allow(app, "Allow once");
      const frame = consentRequest(app);
      await expect(frame).toContainText("wants to open a web page");
      await expect(frame.getByText(URL).first(), "the whole address").toBeVisible();
      await expect(frame.getByText("It belongs to example.com.")).toBeVisible();
      expect(host.opened(), "nothing was opened yet").toEqual([]);
      await allow(app, "Open in the browser");
      const result = app.getByTestId("tool-result");
      await expect(result, "[elicit-url-outcome-modern]").toContainText("The permit is signed.");
      expect(host.opened(), "the browser got exactly what was shown").toEqual([URL]);
    });

    test("a URL: denied, it is not opened", async ({ app, host }) => {
      await callTool(app, "ask_url");
      await allow(app, "Allow once");
      await expect(consentRequest(app)).toContainText("wants to open a web page");
      await consentRequest(app).getByRole("button", { name: "Decline" }).click();
      await expect(app.getByTestId("tool-result")).toContainText("the page was not opened");
      expect(host.opened(), "the browser heard nothing").toEqual([]);
    });

    test("roots: require consent once, and only the selected folders are sent", async ({ app, host }) => {
      const folder = realpathSync(mkdtempSync(join(host.folder, "shared-")));
      host.setDialogAnswer("pick-folder", folder);
      await callTool(app, "list_folders");
      await allow(app, "Allow once");
      const frame = consentRequest(app);
      await expect(frame).toContainText("asks for your folders");
      await expect(frame).toContainText("No folders: harbour will receive an empty list.");
      await frame.getByRole("button", { name: "Add a folder" }).click();
      await expect(frame.getByText(folder)).toBeVisible();
      await allow(app, "Share 1 folder");
      const result = app.getByTestId("tool-result");
      await expect(result).toContainText("The host shares 1 folders.");
      await expect(result).toContainText(`file://${folder}`);
      await callTool(app, "list_folders");
      await allow(app, "Allow once");
      await expect(app.getByTestId("tool-result"), "it is not asked again").toContainText("shares 1 folders");
      await expect(consentRequest(app)).toBeHidden();
    });
  });
}

test.describe("an error that requires a URL first", () => {
  test.use({ setup: LEGACY });

  test("shows a consent request like any other", async ({ app, host }) => {
    await callTool(app, "ask_url");
    await consentRequest(app).getByRole("button", { name: "Deny" }).click();
    await expect(consentRequest(app)).toBeHidden();
    const main = app.getByRole("main");
    const box = main.getByRole("checkbox", { name: /Ask by an error/ });
    if (await box.count()) await box.check();
    else await main.getByRole("combobox", { name: /Ask by an error/ }).selectOption({ label: "yes" });
    await main.getByRole("button", { name: "Call", exact: true }).click();
    await allow(app, "Allow once");
    await expect(consentRequest(app)).toContainText("wants to open a web page");
    await allow(app, "Open in the browser");
    await expect.poll(() => host.opened(), "it was opened").toEqual([URL]);
  });
});
