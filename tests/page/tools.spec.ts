import { allow, axeViolations, callTool, callToolAgain, ERAS, expect, consentRequest, test, visit } from "./fixtures";

for (const [era, setup] of ERAS) {
  test.describe(era, () => {
    test.use({ setup });

    test("E8: a call is filled in, approved in a request that names who asked, and shows its result", async ({ app, host }) => {
      await visit(app, "#/server/harbour/tools/add");
      await app.getByRole("textbox", { name: /First number/ }).fill("2");
      await app.getByRole("textbox", { name: /Second number/ }).fill("40");
      await app.getByRole("button", { name: "Call", exact: true }).click();
      const frame = consentRequest(app);
      await expect(frame).toContainText("Run add on harbour?");
      await expect(frame, "E8: the request should name who asked").toContainText("You asked.");
      await expect(frame).toContainText("Sends to harbour:");
      for (const part of ["add", "a", "2", "b", "40"]) await expect(frame).toContainText(part);
      const sent = await host.activity("harbour");
      expect(sent.entries.some((e) => e.method === "tools/call"), "nothing should be sent before consent").toBe(false);
      await allow(app, "Allow once");
      const result = app.getByTestId("tool-result");
      await expect(result).toHaveAttribute("data-state", "done");
      await expect(result).toContainText("2 + 40 = 42");
      await expect(result.getByText("Structured result")).toBeVisible();
    });

    // [tools-show-invocation] [cancel-ui-indication]
    test("a call shows its progress with the message of the server, and can be cancelled", async ({ app }) => {
      await visit(app, "#/server/harbour/tools/slow_report");
      await app.getByRole("textbox", { name: /Seconds/ }).fill("30");
      await app.getByRole("textbox", { name: /Steps/ }).fill("100");
      await app.getByRole("button", { name: "Call", exact: true }).click();
      await allow(app, "Allow once");
      const result = app.getByTestId("tool-result");
      await expect(result.getByText(/Page \d+ of 100 is written/), "the message of the server should be shown").toBeVisible();
      await expect(result.getByRole("progressbar"), "the progress should be shown").toBeVisible();
      await result.getByRole("button", { name: "Cancel the call" }).click();
      await expect(result).toHaveAttribute("data-state", "cancelled");
    });

    test("every kind of result content is shown", async ({ app }) => {
      await callTool(app, "show_everything");
      await allow(app, "Allow once");
      const result = app.getByTestId("tool-result");
      await expect(result.getByRole("heading", { name: "Today in the harbour" }), "Markdown should be rendered").toBeVisible();
      await expect(result.getByRole("cell", { name: "north" }), "a table should be rendered").toBeVisible();
      const picture = result.getByRole("img").first();
      await expect(picture, "a picture should be rendered").toBeVisible();
      const width = () => picture.evaluate((image: HTMLImageElement) => image.naturalWidth);
      await expect.poll(width, "the picture should be decoded").toBeGreaterThan(0);
      await expect(result.locator("audio"), "a sound should have a player").toHaveCount(1);
      await expect(result.getByText("Sea chart"), "a link to a resource should be shown").toBeVisible();
      await expect(result.getByText("Structured result"), "structured content should be shown").toBeVisible();
      await expect(result.getByText("Borealis").last()).toBeVisible();
    });
  });
}

test("E25: arguments can be changed in the request, which shows both values, focuses Deny and is armed again", async ({ app }) => {
  await visit(app, "#/server/harbour/tools/add");
  await app.getByRole("textbox", { name: /First number/ }).fill("2");
  await app.getByRole("textbox", { name: /Second number/ }).fill("2");
  await app.getByRole("button", { name: "Call", exact: true }).click();
  const frame = consentRequest(app);
  await frame.getByRole("button", { name: "Edit the arguments" }).click();
  await frame.getByRole("textbox", { name: /Second number/ }).fill("3");
  await frame.getByRole("button", { name: "Use these changes" }).click();
  await expect(frame, "E25: the requested value should be shown").toContainText(/Requested:\s*2/);
  await expect(frame.getByRole("button", { name: "Deny", exact: true }), "E25: Deny should be focused").toBeFocused();
  await allow(app, "Allow once");
  const result = app.getByTestId("tool-result");
  await expect(result, "the arguments that were approved last should be sent").toContainText("2 + 3 = 5");
  await expect(result.getByText("Arguments sent, after your changes")).toBeVisible();
});

test("an approved call is repeated without another consent request until its arguments change", async ({ app, host }) => {
  const calls = async () => {
    const { entries } = await host.activity("harbour");
    return entries.filter((e) => e.sent && e.method === "tools/call").length;
  };
  await visit(app, "#/server/harbour/tools/add");
  await app.getByRole("textbox", { name: /First number/ }).fill("2");
  await app.getByRole("textbox", { name: /Second number/ }).fill("40");
  await app.getByRole("button", { name: "Call", exact: true }).click();
  await allow(app, "Allow once");
  const result = app.getByTestId("tool-result");
  await expect(result).toContainText("2 + 40 = 42");
  for (const count of [2, 3]) {
    await callToolAgain(app, "add");
    await expect.poll(calls, "the call should be sent without a consent request").toBe(count);
    await expect(result).toHaveAttribute("data-state", "done");
  }
  await expect(consentRequest(app)).toBeHidden();
  expect(await axeViolations(app), "axe should find no violations").toEqual([]);
  for (const width of [1180, 480]) {
    await app.setViewportSize({ width, height: 780 });
    await app.screenshot({ path: test.info().outputPath(`call-again-${width}.png`) });
  }
  await app.getByRole("textbox", { name: /First number/ }).fill("3");
  await app.getByRole("button", { name: "Call", exact: true }).click();
  await expect(consentRequest(app), "other arguments should require consent").toContainText("Run add on harbour?");
  const definition = consentRequest(app).getByText("Definition reviewed, unchanged");
  await expect(definition, "E2: a reviewed definition should be folded to one line").toBeVisible();
  await expect(consentRequest(app)).not.toContainText("inputSchema");
  await definition.click();
  await expect(consentRequest(app), "E2: the line should open").toContainText("inputSchema");
  await consentRequest(app).getByRole("button", { name: "Deny" }).click();
  await expect(result).toHaveAttribute("data-state", "refused");
  expect(await calls(), "the denied call should not be sent").toBe(3);
});

// [tools-human-in-loop]
test("a denied call is not sent", async ({ app, host }) => {
  await callTool(app, "show_everything");
  await consentRequest(app).getByRole("button", { name: "Deny" }).click();
  const result = app.getByTestId("tool-result");
  await expect(result).toHaveAttribute("data-state", "refused");
  await expect(result).toContainText("You denied this call.");
  const { entries } = await host.activity("harbour");
  expect(entries.some((e) => e.method === "tools/call"), "the server should not receive the call").toBe(false);
});

test("an error of a tool is shown as an error", async ({ app }) => {
  await callTool(app, "fail");
  await allow(app, "Allow once");
  const result = app.getByTestId("tool-result");
  await expect(result.getByRole("alert")).toContainText("The tool reported an error");
  await expect(result).toContainText("It did not work: the rope broke.");
});

test("a call allowed for the session runs at once, and a changed definition requires consent again", async ({ app, host }) => {
  const calls = async () => {
    const { entries } = await host.activity("harbour");
    return entries.filter((e) => e.sent && e.method === "tools/call").length;
  };
  await callTool(app, "lighthouse");
  await allow(app, "Always allow this tool");
  const result = app.getByTestId("tool-result");
  await expect(result).toHaveAttribute("data-state", "done");
  await app.getByRole("button", { name: "Call", exact: true }).click();
  await expect.poll(calls, "a granted call should be sent without a consent request").toBe(2);
  await expect(result).toHaveAttribute("data-state", "done");
  await expect(consentRequest(app)).toBeHidden();

  await callTool(app, "change_tool");
  await allow(app, "Allow once");
  await expect(app.getByTestId("tool-result")).toHaveAttribute("data-state", "done");
  await callTool(app, "lighthouse");
  await expect(consentRequest(app)).toContainText("This tool changed since you reviewed it.");
  await consentRequest(app).getByRole("button", { name: "Deny" }).click();
});

test("a nested form produces the arguments of its schema", async ({ app }) => {
  await visit(app, "#/server/harbour/tools/plan_trip");
  const main = app.getByRole("main");
  await main.getByRole("combobox", { name: /^From/ }).selectOption({ label: "Bergen" });
  await main.getByRole("combobox", { name: /^To/ }).selectOption({ index: 2 });
  await main.getByRole("textbox", { name: /Day of departure/ }).fill("2026-12-01");
  await main.getByRole("button", { name: "Add to Crew" }).click();
  await main.getByRole("textbox", { name: /^Name/ }).fill("Ann");
  await main.getByRole("button", { name: "Call", exact: true }).click();
  await allow(app, "Allow once");
  const result = app.getByTestId("tool-result");
  await expect(result).toHaveAttribute("data-state", "done");
  await expect(result).toContainText("Aurora leaves on 2026-12-01: Bergen");
  await expect(result).toContainText("Ann (mate)");
});

test("tools of all servers are found by their description", async ({ app }) => {
  await visit(app, "#/tools");
  await app.getByRole("searchbox", { name: "Search the tools of all servers" }).fill("two numbers");
  await expect(app.getByRole("main").getByText("Add two numbers").first()).toBeVisible();
});
