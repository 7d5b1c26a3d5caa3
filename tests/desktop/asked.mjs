// What servers ask for (items 7 to 9): a model's answer, forms, pages in the browser, folders. In both eras.
import assert from "node:assert/strict";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { callTool } from "./calls.mjs";

const RESULT = "[data-testid=tool-result]";
const QUESTION = "[data-testid=question]";
const PERMIT = "https://permits.example.com/harbour/aurora?day=monday";

export async function asked(page, place, step) {
  const opened = () => {
    const file = join(place.platform, "opened-urls");
    return existsSync(file) ? readFileSync(file, "utf8").split("\n").filter(Boolean) : [];
  };

  for (const era of ["legacy", "modern"]) {
    await step(`7 ${era}: sampling in two steps, answered by hand`, async () => {
      await callTool(page, era, "ask_model");
      await page.allow("Allow once");
      await page.asks("requests an answer from a model");
      for (const part of ["friendly harbour master", "Is it a good day to sail?", "200 tokens"]) await page.asks(part);
      await page.picture(`${era}-sampling-request`);
      await page.allow("Answer it yourself");
      await page.fill("Your answer", "Stay in the harbour.");
      await page.picture(`${era}-sampling-answer`);
      await page.click("button", "Review the answer");
      await page.allow("Send the answer");
      await page.reads("user said: Stay in the harbour.", RESULT);
    });

    await step(`8 ${era}: a form is checked, then accepted`, async () => {
      await callTool(page, era, "ask_user");
      await page.allow("Allow once");
      await page.asks("Please announce your ship to the harbour master.");
      await page.fill(/^Captain/, "Ann");
      await page.fill(/^Email/, "nowhere");
      await page.read();
      await page.goAndClick("button", "Accept and send", QUESTION);
      await page.asks("Enter an email address.");
      await page.picture(`${era}-form`);
      await page.fill(/^Email/, "ann@example.com");
      await page.fill(/^Day of arrival/, "2026-12-01");
      await page.fill(/^Crew/, "7");
      // What lies below moves up as soon as the fields above are right.
      const isRight = async () => !/Fill this in|Enter an email/.test(await page.text(QUESTION));
      await page.until("the fields above to be right", isRight);
      await page.click("checkbox", "Chinese", QUESTION);
      await page.allow("Accept and send");
      await page.reads("The user accepted and sent the form.", RESULT);
      await page.reads("ann@example.com", RESULT);
    });

    for (const [button, said] of [["Decline", "declined"], ["Cancel", "cancelled"]]) {
      await step(`8 ${era}: a form ${said}`, async () => {
        await callTool(page, era, "ask_user");
        await page.allow("Allow once");
        await page.asks("asks you to fill in a form");
        await page.click("button", button, QUESTION);
        await page.reads(`The user ${said}.`, RESULT);
      });
    }

    await step(`8 ${era}: a URL is shown whole, and opened after consent only`, async () => {
      const before = opened().length;
      await callTool(page, era, "ask_url");
      await page.allow("Allow once");
      await page.asks("wants to open a web page");
      await page.asks(PERMIT);
      await page.asks("It belongs to example.com.");
      assert.equal(opened().length, before, "nothing was opened yet");
      await page.picture(`${era}-url`);
      await page.allow("Open in the browser");
      await page.reads("The permit is signed.", RESULT);
      assert.deepEqual(opened().slice(before), [PERMIT], "the browser got exactly what was shown");
    });

    await step(`9 ${era}: folders by the system's dialog, asked once, changes announced`, async () => {
      const folders = ["first", "second"].map((name) => join(place.home, `${era}-${name}`));
      for (const folder of folders) mkdirSync(folder);
      writeFileSync(join(place.platform, "pick-folder"), folders[0]);
      await callTool(page, era, "list_folders");
      await page.allow("Allow once");
      await page.asks("asks for your folders");
      await page.click("button", "Add a folder", QUESTION);
      await page.asks(folders[0]);
      await page.picture(`${era}-folders`);
      await page.allow("Share 1 folder");
      await page.reads("The host shares 1 folders.", RESULT);
      writeFileSync(join(place.platform, "pick-folder"), folders[1]);
      await page.go(`#/server/${era}/roots`);
      await page.click("button", "Add a folder…");
      await page.reads(folders[1], "main");
      await page.picture(`${era}-roots`);
      await callTool(page, era, "list_folders");
      await page.allow("Allow once");
      await page.reads("The host shares 2 folders.", RESULT);
    });
  }
}
