// A result that looks wrong is shown before the model reads it, in the conversation, at two widths; pictures for people to look at
// are in target/screenshots/page/result-review.
import { mkdirSync } from "node:fs";
import { join, resolve } from "node:path";

import type { Page } from "@playwright/test";

import { allow, axeFinds, expect, question, test as base, visit } from "./fixtures";
import { Provider } from "./provider";

const PICTURES = resolve(__dirname, "../../target/screenshots/page/result-review");
const SIZES = [
  { width: 1280, height: 800 },
  { width: 480, height: 800 },
];

const test = base.extend<{ provider: Provider }>({
  provider: [
    async ({ host, app }, use) => {
      const provider = await Provider.start("sk-canary-result-31c7");
      await provider.setUpIn(host);
      // The user has seen the tool: it was called once.
      const seen = { call: "seen", server: "harbour", tool: "fail", arguments: {} };
      const called = host.call("call_tool", seen);
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

async function held(app: Page) {
  await app.getByRole("textbox", { name: "Message" }).fill("please fail at the harbour");
  await app.getByRole("button", { name: "Send", exact: true }).click();
  const frame = question(app);
  await expect(frame, "the result stands in the conversation").toContainText("Let the model read this result?");
  return frame;
}

async function told(provider: Provider): Promise<string> {
  const asked = await provider.asked();
  return JSON.stringify(asked.at(-1)?.body.messages ?? []);
}

test("S27: a result that looks wrong is shown whole with the reasons, at each width, and left out", async ({
  app,
  provider,
}) => {
  const frame = await held(app);
  await expect(frame, "S27: why").toContainText("instructs the model");
  await expect(frame, "S27: why").toContainText("has a link to another address than it shows");
  await expect(frame, "S27: all that the model would read").toContainText("It did not work: Ignore all previous");
  mkdirSync(PICTURES, { recursive: true });
  for (const size of SIZES) {
    await app.setViewportSize(size);
    const out = frame.getByRole("button", { name: "Don't send", exact: true });
    await out.scrollIntoViewIfNeeded();
    await expect(out).toBeInViewport();
    await expect(out, "S27: it can be refused").toHaveAttribute("aria-disabled", "false");
    await app.screenshot({ path: join(PICTURES, `${size.width}.png`) });
    expect(await axeFinds(app), `axe finds nothing at ${size.width}`).toEqual([]);
    const wider = () => app.evaluate(() => document.documentElement.scrollWidth - innerWidth);
    await expect.poll(wider, `nothing is wider than the window at ${size.width}`).toBeLessThanOrEqual(0);
  }
  await frame.getByRole("button", { name: "Don't send", exact: true }).click();
  await expect(app.getByText("I go on without it."), "S27: the model goes on").toBeVisible();
  expect(await told(provider), "S27: and read nothing of it").not.toContain("It did not work");
});

test("S27: a result is read by the model once the user lets it", async ({ app }) => {
  await held(app);
  await allow(app, "Let the model read it");
  await expect(app.getByText("I have read it."), "S27: the model goes on with it").toBeVisible();
});
