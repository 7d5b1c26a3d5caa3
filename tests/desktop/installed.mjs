// First use of the installed package: from the first start to the result of the first approved call, by mouse and
// keyboard. `cargo xtask dist --check` runs this in a fresh system. Arguments: the app, and a folder for screenshots.
import assert from "node:assert/strict";
import { mkdirSync, openSync } from "node:fs";
import { join } from "node:path";

import { startSession } from "./driver.mjs";
import { Page } from "./page.mjs";

const [app, pictures] = process.argv.slice(2);
const CONSENT_REQUEST = "[data-testid=consent-request]";
const RESULT = "[data-testid=tool-result]";
const MAX_FIRST_CALL_CLICKS = 4;
const MAX_FIRST_CALL_SECONDS = 60;

mkdirSync(pictures, { recursive: true });
const start = Date.now();
const session = await startSession(app, {}, openSync(join(pictures, "output.log"), "a"));
const page = new Page(session.browser, pictures);
let clicks = 0;
const click = async (...target) => {
  await page.goAndClick(...target);
  clicks += 1;
};
try {
  await session.browser.setTimeouts(undefined, 30_000, 30_000);
  await click("button", "Start the demo server");
  await page.waitForConsentRequest("wants to run on this computer");
  await page.armed();
  await page.picture("first-consent-request");
  await click("button", /allow/i, CONSENT_REQUEST);
  await click("button", "Call", "main");
  await page.waitForConsentRequest("Run add on demo?");
  await page.readByWheel();
  await page.picture("first-call");
  await click("button", "Allow once", CONSENT_REQUEST);
  await page.waitForText("2 + 3 = 5", RESULT);
  await page.picture("first-result");
  const seconds = (Date.now() - start) / 1000;
  assert.ok(clicks <= MAX_FIRST_CALL_CLICKS, `the first call should take at most ${MAX_FIRST_CALL_CLICKS} clicks, not ${clicks}`);
  assert.ok(seconds < MAX_FIRST_CALL_SECONDS, `the first call should take less than ${MAX_FIRST_CALL_SECONDS} s, not ${seconds}`);
  console.log(`ok      from the start of the app to the first result: ${clicks} clicks, ${seconds.toFixed(1)} s`);
} catch (error) {
  await page.picture("failure").catch(() => undefined);
  console.log(await page.text().catch(() => ""));
  console.log(`FAILED  the first approval in the window: ${error.message}`);
  process.exitCode = 1;
} finally {
  await session.stop();
}
