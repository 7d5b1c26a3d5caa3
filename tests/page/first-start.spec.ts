import type { Locator } from "@playwright/test";

import { allow, DEMO, expect, FIRST_START, consentRequest, test } from "./fixtures";

test.use({ setup: FIRST_START });

test("the demo server starts only after its exact command was approved", async ({ app, host }) => {
  await expect(app.getByRole("heading", { name: "Your tools, behind a bridge you control" })).toBeVisible();
  const before = await host.snapshot();
  expect(before.servers.map((server) => server.state.is), "no server should run at first").toEqual(["stopped"]);

  await app.getByRole("button", { name: "Start the demo server" }).click();
  const frame = consentRequest(app);
  await expect(frame).toContainText("wants to run on this computer");
  await expect(frame, "the request should show the whole command").toContainText(DEMO);
  await expect(frame.getByRole("button", { name: "Deny" }), "Deny should be focused").toBeFocused();
  const waiting = await host.snapshot();
  expect(waiting.servers[0]?.pid ?? null, "no process should run while the request is pending").toBeNull();

  await allow(app, "Always allow this command");
  await expect(frame).toBeHidden();
  await expect(app.getByRole("navigation", { name: "Navigation" }).getByText("ready")).toBeVisible();
});

test("E2: four clicks without scrolling lead from the first start to the first approved call", async ({ app }) => {
  let clicks = 0;
  const click = async (target: Locator) => {
    await target.click();
    clicks += 1;
  };
  const frame = consentRequest(app);
  const allowed = async (button: Locator) => {
    await expect(button, "the request should be armed").toHaveAttribute("aria-disabled", "false");
    await click(button);
  };
  const main = app.getByRole("main");
  await click(app.getByRole("button", { name: "Start the demo server" }));
  await allowed(frame.getByRole("button", { name: /allow/i }).first());
  await click(main.getByRole("button", { name: "Call", exact: true }));
  // An unreviewed definition is shown completely, and this one fits into the request.
  await expect(frame).toContainText("Full definition");
  await allowed(frame.getByRole("button", { name: "Allow once" }));
  await expect(app.getByTestId("tool-result")).toHaveAttribute("data-state", "done");
  expect(clicks).toBe(4);
});

test("a denied command does not run, and the page shows that", async ({ app, host }) => {
  await app.getByRole("button", { name: "Start the demo server" }).click();
  await consentRequest(app).getByRole("button", { name: "Deny" }).click();
  await expect(consentRequest(app)).toBeHidden();
  await expect.poll(async () => (await host.snapshot()).servers[0]?.state.is, "the server should not start").toBe("failed");
  expect((await host.snapshot()).servers[0]?.pid ?? null, "no process should run").toBeNull();
});

test("Allow does nothing until the request could be read", async ({ app, host }) => {
  await app.clock.install();
  await app.clock.pauseAt(Date.now() + 1_000);
  await app.getByRole("button", { name: "Start the demo server" }).click();
  const button = consentRequest(app).getByRole("button", { name: /allow/i }).first();
  await button.click({ force: true });
  await app.keyboard.press("a");
  const pending = (await host.snapshot()).consentRequests.length;
  expect(pending, "neither the click nor the key should approve the request").toBe(1);
  await app.clock.resume();
  await expect(button, "the request should be armed after a moment without input").toHaveAttribute("aria-disabled", "false");
  await app.keyboard.press("a");
  await expect(consentRequest(app), "the shortcut should approve the armed request").toBeHidden();
});
