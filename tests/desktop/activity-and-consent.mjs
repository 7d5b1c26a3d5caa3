// Activity log and the consent queue with the audit log (items 10 and 11).
import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const CONSENT_REQUEST = "[data-testid=consent-request]";
const ACTIVITY = "[data-testid=activity-list]";
const CONTROL = "\uE009";
const ESCAPE = "\uE00C";
const PERMIT_HOST = "permits.example.com";

export async function activityAndConsent(page, place, step) {
  for (const era of ["legacy", "modern"]) {
    await step(`10 ${era}: the activity log is searched, opened and exported`, async () => {
      await page.go(`#/server/${era}/activity`);
      await page.fill("Search activity", "tools/call");
      await page.waitForText("tools/call", ACTIVITY);
      await page.picture(`${era}-activity`);
      // The list may still be scrolling to its end, so that the click misses the row.
      await page.until("a message to be selected", async () => {
        await page.click("option", /tools\/call/, ACTIVITY);
        return page.run((list) => document.querySelector(`${list} [aria-selected=true]`) !== null, ACTIVITY);
      });
      await page.waitForText("params", "aside");
      await page.picture(`${era}-message`);
      const file = join(place.home, `${era}.jsonl`);
      writeFileSync(join(place.platform, "save-file"), file);
      await page.click("button", "Export…");
      await page.waitForText(`Saved as ${file}`);
      const lines = readFileSync(file, "utf8").trim().split("\n").map((line) => JSON.parse(line));
      assert.ok(lines.length > 20, "the file should contain one line of JSON for each message");
    });
  }

  await step("11 several consent requests are counted, shown one at a time, listed, and denied together", async () => {
    await page.go("#/server/legacy/overview");
    for (const [server, count] of [["legacy", 1], ["modern", 4]]) {
      for (let number = 0; number < count; number++) {
        const request = { call: `${server}-${number}`, server, tool: "add", arguments: { a: 1, b: number } };
        await page.run((request) => {
          window.answers ??= [];
          const keep = (answer) => window.answers.push(answer);
          window.__TAURI_INTERNALS__.invoke("call_tool", { request }).then(keep, keep);
        }, request);
      }
      // The calls of one server are handled in any order. That of the first server is shown first.
      await page.waitForConsentRequest("legacy");
    }
    await page.waitForConsentRequest("1 of 5");
    await page.picture("queue-front");
    await page.click("button", "Show all", CONSENT_REQUEST);
    await page.waitForText("5 requests need your decision.", "[data-testid=queue]");
    await page.picture("queue-list");
    await page.click("button", "Deny all requests from modern", "[data-testid=queue]");
    await page.waitForText("1 request needs your decision.", "[data-testid=queue]");
    await page.click("button", "Back to the request", "[data-testid=queue]");
    await page.waitForConsentRequest("legacy");
    await page.armed();
    await page.press("d");
    await page.until("all calls to end", () => page.run(() => window.answers.length === 5));
    const codes = await page.run(() => window.answers.map((answer) => answer.code));
    assert.deepEqual(codes, Array(5).fill("refused"), "each call should be refused");
  });

  await step("11 a click meant for the previous consent request approves nothing", async () => {
    for (const number of [1, 2, 3]) {
      const request = { call: `again-${number}`, server: "legacy", tool: "add", arguments: { a: 1, b: number } };
      await page.run((request) => {
        window.again ??= [];
        window.__TAURI_INTERNALS__.invoke("call_tool", { request }).then(() => window.again.push(request.call));
      }, request);
    }
    const answered = () => page.run(() => window.again.length);
    await page.waitForConsentRequest("1 of 3");
    await page.allow("Allow once");
    // The next request looks the same, and its buttons are at the same positions.
    await page.waitForConsentRequest("1 of 2");
    await page.until("one call to be completed", async () => (await answered()) === 1);
    await page.armed();
    await page.clickAgain();
    await page.waitForConsentRequest("The dialog moved under your pointer");
    assert.equal(await answered(), 1, "a resting pointer should approve nothing");
    // A click elsewhere, so that two clicks at the same position are no double click.
    await page.goAndClick("heading", /./, CONSENT_REQUEST);
    await page.allow("Allow once");
    await page.until("the second call to be completed", async () => (await answered()) === 2);
    await page.allow("Allow once");
    await page.until("the third call to be completed", async () => (await answered()) === 3);
  });

  await step("11 consent requests are announced as system notifications", () => {
    const announced = readFileSync(join(place.platform, "announced"), "utf8");
    for (const line of ["demo\tstart-server", "legacy\ttool", "modern\telicitation", "legacy\troots"]) {
      assert.ok(announced.includes(`${line}\n`), `${line} should be announced`);
    }
  });

  await step("11 the audit log contains every decision, in the window and as a file", async () => {
    await page.go("#/audit");
    for (const text of ["Denied", "Allowed", "show_everything", "Model's answer", PERMIT_HOST]) {
      await page.waitForText(text, "main");
    }
    await page.picture("audit");
    const file = join(place.home, "decisions.jsonl");
    writeFileSync(join(place.platform, "save-file"), file);
    await page.click("button", "Export…");
    await page.waitForText(`Saved as ${file}`);
    // The first line describes the file, the last one marks its end.
    const lines = readFileSync(file, "utf8").trim().split("\n").slice(1, -1);
    const kinds = new Set(lines.map((line) => JSON.parse(line).entry.kind));
    for (const kind of ["start-server", "tool", "sampling-answer", "elicitation", "url", "roots"]) {
      assert.ok(kinds.has(kind), `the audit log should contain a decision of the kind ${kind}`);
    }
  });

  await step("11 grants are listed, and can be revoked", async () => {
    await page.go("#/rules");
    await page.waitForText("show_everything", "main");
    await page.picture("rules");
    await page.click("button", /^Revoke: .*show_everything, legacy/);
    await page.until("the grant to be removed", async () => !(await page.has("button", /show_everything, legacy/)));
    await page.until("the consent request to be closed", () => page.run(() => !document.querySelector("[role=dialog]")));
  });

  await step("the palette opens by keyboard, and the theme and language are changed", async () => {
    await page.chord(CONTROL, "k");
    await page.waitForText("Actions", "[role=dialog]");
    await page.picture("palette");
    await page.press(ESCAPE);
    const { value } = await page.invoke("read_snapshot", {});
    await page.invoke("set_settings", { ...value.settings, theme: "dark", language: "zh" });
    await page.until("the language to be changed", () => page.run(() => document.documentElement.lang.startsWith("zh")));
    await page.go("#/server/modern/overview");
    await page.picture("dark-chinese");
    await page.invoke("set_settings", value.settings);
  });
}
