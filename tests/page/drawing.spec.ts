// Rendering does not wait for unrelated requests: the first content needs only the snapshot, a consent request
// nothing.
import { callTool, expect, consentRequest, test } from "./fixtures";

/**
 * Maximum delay between the event of a consent request and its frame, in milliseconds. Far above the usual delay, and
 * far below the delay of sequential requests.
 */
const MAX_DRAWING_DELAY_MS = 1_000;

test("the first content does not wait for the code of consent requests", async ({ page, host }) => {
  let isRequested = false;
  await page.route(/\/assets\/ConsentOverlay-.*\.js$/, (route) => {
    isRequested = true;
    return route.abort();
  });
  await page.goto(host.url);
  await expect(page.getByRole("banner"), "the title bar should be visible without the code of consent requests").toBeVisible();
  await expect(
    page.getByRole("navigation", { name: "Navigation" }),
    "the left column should be visible without the code of consent requests",
  ).toBeVisible();
  await expect.poll(() => isRequested, { message: "the code of consent requests should be fetched after the first content" }).toBe(true);
});

test("a consent request is rendered at once, without loading code", async ({ app }) => {
  await app.waitForLoadState("networkidle");
  const lateRequests: string[] = [];
  await app.route(/\/assets\//, (route) => {
    lateRequests.push(route.request().url());
    return route.abort();
  });
  // From the event of the request to the frame in which it is drawn.
  await app.evaluate(() => {
    const times = { received: 0, drawn: 0 };
    Object.assign(window, { times });
    const parse = JSON.parse.bind(JSON);
    JSON.parse = (text, reviver) => {
      if (text.includes('"consent_request_changed"') && times.received === 0) times.received = performance.now();
      return parse(text, reviver);
    };
    const frame = () => {
      if (document.querySelector("[data-testid=consent-request]")) times.drawn = performance.now();
      else requestAnimationFrame(frame);
    };
    requestAnimationFrame(frame);
  });
  await callTool(app, "lighthouse");
  await expect(consentRequest(app)).toContainText("lighthouse");
  const times = () => app.evaluate(() => (window as unknown as { times: { received: number; drawn: number } }).times);
  await expect.poll(async () => (await times()).drawn, "the consent request should be drawn").toBeGreaterThan(0);
  const { received, drawn } = await times();
  expect(received, "the page should receive the event of the request").toBeGreaterThan(0);
  console.log(`a consent request: ${Math.round(drawn - received)} ms from its event to its frame`);
  expect(drawn - received, "the request should be drawn soon after its event").toBeLessThan(MAX_DRAWING_DELAY_MS);
  expect(lateRequests, "no code should be fetched for the request").toEqual([]);
});
