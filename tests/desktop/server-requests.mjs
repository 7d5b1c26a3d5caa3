// Requests of servers (items 7 to 9): sampling, forms, URLs and roots. Run with servers of both protocol generations:
// stateful (up to 2025-11-25) and stateless (2026-07-28).
import assert from "node:assert/strict";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { callTool } from "./calls.mjs";

const RESULT = "[data-testid=tool-result]";
const CONSENT_REQUEST = "[data-testid=consent-request]";
const PERMIT = "https://permits.example.com/harbour/aurora?day=monday";

export async function serverRequests(page, place, step) {
  const opened = () => {
    const file = join(place.platform, "opened-urls");
    return existsSync(file) ? readFileSync(file, "utf8").split("\n").filter(Boolean) : [];
  };

  for (const era of ["legacy", "modern"]) {
    await step(`7 ${era}: sampling is approved in two steps with a manual response`, async () => {
      await callTool(page, era, "ask_model");
      await page.allow("Allow once");
      await page.waitForConsentRequest("requests an answer from a model");
      for (const part of ["friendly harbour master", "Is it a good day to sail?", "200 tokens"]) await page.waitForConsentRequest(part);
      await page.picture(`${era}-sampling-request`);
      await page.allow("Answer it yourself");
      await page.fill("Your answer", "Stay in the harbour.");
      await page.picture(`${era}-sampling-answer`);
      await page.click("button", "Review the answer");
      await page.allow("Send the answer");
      await page.waitForText("user said: Stay in the harbour.", RESULT);
    });

    await step(`8 ${era}: a form is validated, then accepted`, async () => {
      await callTool(page, era, "ask_user");
      await page.allow("Allow once");
      await page.waitForConsentRequest("Please announce your ship to the harbour master.");
      await page.fill(/^Captain/, "Ann");
      await page.fill(/^Email/, "nowhere");
      await page.read();
      await page.goAndClick("button", "Accept and send", CONSENT_REQUEST);
      await page.waitForConsentRequest("Enter an email address.");
      await page.picture(`${era}-form`);
      await page.fill(/^Email/, "ann@example.com");
      await page.fill(/^Day of arrival/, "2026-12-01");
      await page.fill(/^Crew/, "7");
      // The layout moves up once the fields above are valid.
      const isRight = async () => !/Fill this in|Enter an email/.test(await page.text(CONSENT_REQUEST));
      await page.until("the fields above to be valid", isRight);
      await page.click("checkbox", "Chinese", CONSENT_REQUEST);
      await page.allow("Accept and send");
      await page.waitForText("The user accepted and sent the form.", RESULT);
      await page.waitForText("ann@example.com", RESULT);
    });

    for (const [button, outcome] of [["Decline", "declined"], ["Cancel", "cancelled"]]) {
      await step(`8 ${era}: a form is ${outcome}`, async () => {
        await callTool(page, era, "ask_user");
        await page.allow("Allow once");
        await page.waitForConsentRequest("asks you to fill in a form");
        await page.click("button", button, CONSENT_REQUEST);
        await page.waitForText(`The user ${outcome}.`, RESULT);
      });
    }

    await step(`8 ${era}: a URL is shown completely, and opened after consent only`, async () => {
      const before = opened().length;
      await callTool(page, era, "ask_url");
      await page.allow("Allow once");
      await page.waitForConsentRequest("wants to open a web page");
      await page.waitForConsentRequest(PERMIT);
      await page.waitForConsentRequest("It belongs to example.com.");
      assert.equal(opened().length, before, "no URL should be opened before consent");
      await page.picture(`${era}-url`);
      await page.allow("Open in the browser");
      await page.waitForText("The permit is signed.", RESULT);
      assert.deepEqual(opened().slice(before), [PERMIT], "the browser should open exactly the URL that was shown");
    });

    await step(`9 ${era}: roots from the system dialog require consent once, and changes are announced`, async () => {
      const folders = ["first", "second"].map((name) => join(place.home, `${era}-${name}`));
      for (const folder of folders) mkdirSync(folder);
      writeFileSync(join(place.platform, "pick-folder"), folders[0]);
      await callTool(page, era, "list_folders");
      await page.allow("Allow once");
      await page.waitForConsentRequest("asks for your folders");
      await page.click("button", "Add a folder", CONSENT_REQUEST);
      await page.waitForConsentRequest(folders[0]);
      await page.picture(`${era}-folders`);
      await page.allow("Share 1 folder");
      await page.waitForText("The host shares 1 folders.", RESULT);
      writeFileSync(join(place.platform, "pick-folder"), folders[1]);
      await page.go(`#/server/${era}/roots`);
      await page.click("button", "Add a folder…");
      await page.waitForText(folders[1], "main");
      await page.picture(`${era}-roots`);
      await callTool(page, era, "list_folders");
      await page.allow("Allow once");
      await page.waitForText("The host shares 2 folders.", RESULT);
    });
  }
}
