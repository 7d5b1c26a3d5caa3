// Everyday tasks and their usability.
import { allow, callTool, expect, LEGACY, consentRequest, readRest, test, visit } from "./fixtures";

test("E2: a first call takes four steps, and no picture is read as text", async ({ app }) => {
  await visit(app, "#/server/harbour/tools/add");
  await app.getByRole("textbox", { name: /First number/ }).fill("2");
  await app.getByRole("textbox", { name: /Second number/ }).fill("40");
  await app.getByRole("button", { name: "Call", exact: true }).click();
  const frame = consentRequest(app);
  await expect(frame.getByText(/icon, \d/), "an icon should be shown as its size").toHaveCount(1);
  await expect(frame).not.toContainText(/base64,[A-Za-z0-9+/]{20}/);
  const once = frame.getByRole("button", { name: "Allow once" });
  await app.mouse.move(1, 1);
  // A collapsed part would prevent the approval.
  const pages = await readRest(app, once);
  expect(pages, "the rest of the request should fit into one page").toBeLessThanOrEqual(1);
  await once.click();
  await expect(app.getByTestId("tool-result")).toHaveAttribute("data-state", "done");
});

test.describe("a low window", () => {
  test.use({ viewport: { width: 1180, height: 560 } });

  test("E9: the result scrolls into view, and its duration excludes the user's decision", async ({ app }) => {
    await callTool(app, "show_everything");
    await expect(consentRequest(app)).toBeVisible();
    const openedAt = Date.now();
    await readRest(app, consentRequest(app).getByRole("button", { name: "Allow once" }));
    const waited = Date.now() - openedAt;
    await allow(app, "Allow once");
    const result = app.getByTestId("tool-result");
    await expect(result).toHaveAttribute("data-state", "done");
    await expect(result.getByText("Result", { exact: true }), "the beginning of the result should be in view").toBeInViewport();
    const shownDuration = await app.getByText(/^Took [\d.]+ (ms|s)$/).innerText();
    const [, number, unit] = /([\d.]+) (ms|s)/.exec(shownDuration) ?? [];
    expect(Number(number) * (unit === "s" ? 1_000 : 1), "the duration should exclude the time of the user's decision").toBeLessThan(waited);
  });
});

test("E15: an invalid form focuses the first invalid field", async ({ app }) => {
  await callTool(app, "ask_user");
  await allow(app, "Allow once");
  const frame = consentRequest(app);
  await expect(frame).toContainText("Please announce your ship to the harbour master.");
  const accept = frame.getByRole("button", { name: "Accept and send" });
  await readRest(app, accept);
  await accept.click();
  const first = frame.locator(".form-field", { hasText: "Fill this in." }).first().locator("input").first();
  await expect(first, "the first invalid field should be focused").toBeFocused();
  await expect(first).toBeInViewport();
  await app.keyboard.type("Aurora");
  await expect(accept, "nothing should have to be viewed again").toHaveAttribute("aria-disabled", "false");
});

test.describe("in the dark theme", () => {
  test.use({ setup: { ...LEGACY, theme: "dark" } });

  test("E10: unchecked boxes are as dark as the page", async ({ app }) => {
    await callTool(app, "ask_user");
    await allow(app, "Allow once");
    const frame = consentRequest(app);
    const off = frame.getByRole("radio", { name: "The old quay" });
    const style = (name: string) =>
      off.evaluate((element, name) => getComputedStyle(element).getPropertyValue(name), name);
    expect(await style("appearance"), "the web view should not draw the box in its native style").toBe("none");
    const [red = 255] = (await style("background-color")).match(/\d+/g)?.map(Number) ?? [];
    expect(red, "an unchecked box should be dark").toBeLessThan(80);
    const place = () =>
      off.evaluate((element) => {
        const line = element.parentElement!.getBoundingClientRect();
        return { height: line.height, y: element.getBoundingClientRect().y - line.y };
      });
    const before = await place();
    await off.check();
    expect(await place(), "the box should not move when it is checked").toEqual(before);
    const [, , blue = 0] = (await style("background-color")).match(/\d+/g)?.map(Number) ?? [];
    expect(blue, "a checked box should have the accent color").toBeGreaterThan(150);
  });
});

test("E16: an empty queue links to the permanent grants", async ({ app }) => {
  await app.getByRole("button", { name: "Approvals" }).click();
  await app.getByRole("button", { name: "Show saved approvals" }).click();
  await expect(app).toHaveURL(/#\/rules/);
});
