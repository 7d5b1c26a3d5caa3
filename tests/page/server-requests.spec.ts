// Requests of servers: sampling, forms, URLs and roots.
import { existsSync, mkdtempSync, readFileSync, realpathSync } from "node:fs";
import { join } from "node:path";

import { SCRIPTED } from "./dev-host";
import { allow, callTool, ERAS, expect, LEGACY, consentRequest, readRest, test, visit, waitUntilDeniable } from "./fixtures";

const URL = "https://permits.example.com/harbour/aurora?day=monday";

for (const [era, setup] of ERAS) {
  test.describe(era, () => {
    test.use({ setup });

    test("sampling: the complete request is shown, and a manual response is reviewed and sent", async ({ app }) => {
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
        await expect(frame, `the request should show ${part}`).toContainText(part);
      }
      await expect(frame.getByRole("img").first(), "the request should show the picture").toBeVisible();
      await allow(app, "Answer it yourself");
      await frame.getByRole("textbox", { name: "Your answer" }).fill("Stay in the harbour.");
      await frame.getByRole("button", { name: "Review the answer" }).click();
      await expect(frame).toContainText("Sends to harbour as the model's answer:");
      await allow(app, "Send the answer");
      const result = app.getByTestId("tool-result");
      await expect(result).toContainText("user said: Stay in the harbour. (stopped: endTurn)");
    });

    test("a call ends with an explanation if its sampling request is denied", async ({ app }) => {
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
      expect(await readRest(app, accept), "[elicit-review]: the form should be enabled once all of it was viewed").toBeGreaterThan(0);
      await accept.click();
      await expect(frame.getByText("Enter an email address.")).toBeVisible();
      await expect(frame.getByText("Too large: at most 50.")).toBeVisible();
      await expect(frame.getByText("Fill this in.").first(), "missing required fields should be marked").toBeVisible();
      await expect(frame.getByText("Scroll through all of it to allow."), "what was viewed should stay viewed").toBeHidden();

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
        await expect(result, `the server should receive ${part}`).toContainText(part);
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

    test("a URL is shown completely with its domain, and opened after consent only", async ({ app, host }) => {
      await callTool(app, "ask_url");
      await allow(app, "Allow once");
      const frame = consentRequest(app);
      await expect(frame).toContainText("wants to open a web page");
      await expect(frame.getByText(URL).first(), "the request should show the whole URL").toBeVisible();
      await expect(frame.getByText("It belongs to example.com.")).toBeVisible();
      expect(host.opened(), "no URL should be opened before consent").toEqual([]);
      await allow(app, "Open in the browser");
      const result = app.getByTestId("tool-result");
      await expect(result, "[elicit-url-outcome-modern]: the call should complete").toContainText("The permit is signed.");
      expect(host.opened(), "the browser should open exactly the URL that was shown").toEqual([URL]);
    });

    test("a denied URL is not opened", async ({ app, host }) => {
      await callTool(app, "ask_url");
      await allow(app, "Allow once");
      await expect(consentRequest(app)).toContainText("wants to open a web page");
      await consentRequest(app).getByRole("button", { name: "Decline" }).click();
      await expect(app.getByTestId("tool-result")).toContainText("the page was not opened");
      expect(host.opened(), "no URL should be opened").toEqual([]);
    });

    test("E7: denied folders do not require consent again", async ({ app }) => {
      await callTool(app, "list_folders");
      await allow(app, "Allow once");
      const frame = consentRequest(app);
      await expect(frame).toContainText("asks for your folders");
      await waitUntilDeniable(app);
      await frame.getByRole("button", { name: "Deny", exact: true }).click();
      const result = app.getByTestId("tool-result");
      await expect(result).toContainText("shares 0 folders");
      await callTool(app, "list_folders");
      await allow(app, "Allow once");
      await expect(result, "the second call should end").toContainText("shares 0 folders");
      await expect(frame, "the denial should be remembered").toBeHidden();
    });

    test("roots require consent once, and only the selected folders are sent", async ({ app, host }) => {
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
      await expect(
        app.getByTestId("tool-result"),
        "the second call should send the folders without consent",
      ).toContainText("shares 1 folders");
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
    await expect.poll(() => host.opened(), "the URL should be opened").toEqual([URL]);
  });
});

test.describe("folders that a server asks for at its start", () => {
  const raw = '{"jsonrpc":"2.0","id":"folders","method":"roots/list"}';
  test.use({ setup: { ...LEGACY, servers: {}, running: [] } });

  test("E7: their request is only counted, and a denial is remembered by the next start", async ({ app, host }) => {
    const record = join(host.folder, "record");
    const args = ["--raw", `tools/list=${raw}`, "--reply", 'tools/list={"tools":[]}', "--record", record];
    const config = { type: "stdio", command: SCRIPTED, args, env: {}, cwd: null, revision: null };
    await host.call("add_server", { name: "eager", config });
    const responses = () =>
      (existsSync(record) ? readFileSync(record, "utf8") : "").split("\n").filter((line) => line.includes('"id":"folders"'));
    await host.startApproved("eager");
    const request = await host.consentRequest("roots");
    await expect(app.getByRole("button", { name: /Approvals \(1\)/ }), "the request should be counted").toBeVisible();
    await expect(consentRequest(app), "the request should not interrupt the user").toBeHidden();
    await host.answer(request, { action: "deny" });
    await expect.poll(responses, { message: "the server should receive a response" }).toHaveLength(1);
    await host.call("stop_server", { server: "eager" });
    await host.startApproved("eager");
    await expect.poll(responses, { message: "the next start should be answered without consent" }).not.toHaveLength(1);
    for (const response of responses()) expect(response, "nothing should be shared").toContain('"roots":[]');
    expect((await host.snapshot()).consentRequests, "the denial should be remembered").toEqual([]);
  });

  test("E7: nothing can be shared with a sandbox without folders, so nobody is asked", async ({ app, host }) => {
    const args = ["--raw", `tools/list=${raw}`, "--reply", 'tools/list={"tools":[]}'];
    const sandbox = { folders: [], network: { preset: "files_only" } };
    const config = { type: "stdio", command: SCRIPTED, args, env: {}, cwd: null, revision: null, sandbox };
    await host.call("add_server", { name: "eager", config });
    await host.startApproved("eager");
    const responses = async () => {
      const { entries } = await host.activity("eager");
      return entries.filter(({ method, sent }) => method === "roots/list" && sent).length;
    };
    await expect.poll(responses, { message: "the server should receive a response" }).toBe(1);
    expect((await host.snapshot()).consentRequests, "no consent should be requested").toEqual([]);
    await visit(app, "#/server/eager/roots");
    await expect(app.getByText(/receives none, and Drawbridge does not ask/), "the page should say why").toBeVisible();
  });
});
