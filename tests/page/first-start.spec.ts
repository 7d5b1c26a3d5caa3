import { allow, DEMO, expect, FIRST_START, question, test } from "./fixtures";

test.use({ setup: FIRST_START });

test("the demo server starts after its exact command was approved, and not before", async ({ app, host }) => {
  await expect(app.getByRole("heading", { name: "Your tools, behind a bridge you control" })).toBeVisible();
  const before = await host.snapshot();
  expect(before.servers.map((server) => server.state.is), "nothing runs yet").toEqual(["stopped"]);

  await app.getByRole("button", { name: "Start the demo server" }).click();
  const frame = question(app);
  await expect(frame).toContainText("wants to run on this computer");
  await expect(frame, "the whole command is there").toContainText(DEMO);
  await expect(frame.getByRole("button", { name: "Deny" }), "Deny is focused").toBeFocused();
  const waiting = await host.snapshot();
  expect(waiting.servers[0]?.pid ?? null, "no process runs while the question is open").toBeNull();

  await allow(app, "Always allow this command");
  await expect(frame).toBeHidden();
  await expect(app.getByRole("navigation", { name: "Navigation" }).getByText("ready")).toBeVisible();
});

test("a denied command does not run, and the page says so", async ({ app, host }) => {
  await app.getByRole("button", { name: "Start the demo server" }).click();
  await question(app).getByRole("button", { name: "Deny" }).click();
  await expect(question(app)).toBeHidden();
  await expect.poll(async () => (await host.snapshot()).servers[0]?.state.is, "it did not start").toBe("failed");
  expect((await host.snapshot()).servers[0]?.pid ?? null, "nothing runs").toBeNull();
});

test("Allow does nothing until the question could be read", async ({ app, host }) => {
  await app.getByRole("button", { name: "Start the demo server" }).click();
  const button = question(app).getByRole("button", { name: /allow/i }).first();
  await button.click({ force: true });
  await app.keyboard.press("a");
  expect((await host.snapshot()).questions.length, "neither click nor key crossed").toBe(1);
  await expect(button, "it is armed after a moment of quiet").toHaveAttribute("aria-disabled", "false");
  await app.keyboard.press("a");
  await expect(question(app), "the key works once it is armed").toBeHidden();
});
