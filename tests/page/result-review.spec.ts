// A suspicious result is shown in the conversation before the model reads it, at two widths.
import type { Page } from "@playwright/test";

import { Provider } from "../provider.cjs";
import { allow, axeViolations, expect, consentRequest, test as base, visit } from "./fixtures";
import { savePicture } from "./pictures";

const SIZES = [
  { width: 1280, height: 800 },
  { width: 480, height: 800 },
];

const test = base.extend<{ provider: Provider }>({
  provider: [
    async ({ host, app }, use) => {
      const provider = await Provider.start("sk-canary-result-31c7");
      await provider.setUpIn(host);
      // The user has reviewed the tool: it was called once.
      const reviewedCall = { call: "seen", server: "harbour", tool: "fail", arguments: {} };
      const called = host.call("call_tool", reviewedCall);
      await host.answerNext("tool", { action: "allow", scope: "session" });
      await called;
      const { id } = await host.call<{ id: string }>("create_conversation", { title: "News" });
      const settings = {
        model: { provider: "fake", model: "gpt-5.2" },
        servers: [{ server: "harbour", tools: null, instructions: null }],
        ...{ systemPrompt: "", shareRoots: false, thinking: false },
      };
      await host.call("set_conversation", { conversation: id, settings });
      await visit(app, `#/conversation/${id}`);
      await use(provider);
      await provider.stop();
    },
    { auto: true },
  ],
});

async function pendingResult(app: Page) {
  await app.getByRole("textbox", { name: "Message" }).fill("please fail at the harbour");
  await app.getByRole("button", { name: "Send", exact: true }).click();
  const frame = consentRequest(app);
  await expect(frame, "the conversation should show the result for review").toContainText("Let the model read this result?");
  return frame;
}

async function lastRequest(provider: Provider): Promise<string> {
  const requests = await provider.requestBodies();
  return JSON.stringify(requests.at(-1)?.messages ?? []);
}

test("S27: a suspicious result is shown completely with the reasons, at each width, and withheld", async ({
  app,
  provider,
}) => {
  const frame = await pendingResult(app);
  await expect(frame, "S27: the request should show the first reason").toContainText("instructs the model");
  await expect(frame, "S27: the request should show the second reason").toContainText("has a link to another address than it shows");
  await expect(
    frame,
    "S27: the request should show everything that the model would read",
  ).toContainText("It did not work: Ignore all previous");
  // While the message field has the focus, a narrower window would hold the request back.
  await app.keyboard.press("F6");
  for (const size of SIZES) {
    await app.setViewportSize(size);
    const withhold = frame.getByRole("button", { name: "Don't send", exact: true });
    // Another width may show the request in another frame.
    await expect(() => withhold.scrollIntoViewIfNeeded({ timeout: 1_000 })).toPass();
    await expect(withhold).toBeInViewport();
    await expect(withhold, "S27: the button to withhold the result should be enabled").toHaveAttribute("aria-disabled", "false");
    await savePicture(app, `result-review/${size.width}`);
    expect(await axeViolations(app), `axe should find no violations at ${size.width}`).toEqual([]);
    const wider = () => app.evaluate(() => document.documentElement.scrollWidth - innerWidth);
    await expect.poll(wider, `nothing should be wider than the window at ${size.width}`).toBeLessThanOrEqual(0);
  }
  await frame.getByRole("button", { name: "Don't send", exact: true }).click();
  await expect(app.getByText("I go on without it."), "S27: the model should continue").toBeVisible();
  expect(await lastRequest(provider), "S27: the model should not receive the result").not.toContain("It did not work");
});

test("S27: a result is read by the model once the user permits it", async ({ app }) => {
  await pendingResult(app);
  await allow(app, "Let the model read it");
  await expect(app.getByText("I have read it."), "S27: the model should continue with the result").toBeVisible();
});
