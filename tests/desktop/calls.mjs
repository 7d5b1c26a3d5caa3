// Tests of tools, prompts, resources and skills (items 4 to 6), with servers of both protocol generations: stateful (up
// to 2025-11-25) and stateless (2026-07-28).
import assert from "node:assert/strict";

/** Result of a tool call. */
export const RESULT = "[data-testid=tool-result]";
/** Frame of an app in a result. Excludes the frame of the self-test, which runs before the app. */
export const APP_FRAME = `${RESULT} iframe:not([src$="self-test"])`;

/** Opens a tool, fills in these values by the label of their field, and calls it. */
export async function callTool(page, server, tool, values = {}) {
  await page.go(`#/server/${server}/tools/${tool}`);
  await page.waitForText(tool, "main article");
  for (const [field, value] of Object.entries(values)) await page.fill(new RegExp(`^${field}`), value);
  await page.click("button", "Call", "main");
}

/** Returns the number of tool calls that a server has received. */
async function called(page, server) {
  const { value } = await page.invoke("read_activity", { server, after: null, limit: 2000 });
  return value.entries.filter((entry) => entry.sent && entry.method === "tools/call").length;
}

export async function calls(page, place, step) {
  for (const era of ["legacy", "modern"]) {
    await step(`4 ${era}: a call is approved with its arguments, and its result is shown`, async () => {
      await callTool(page, era, "add", { "First number": "2", "Second number": "40" });
      await page.waitForConsentRequest(`Run add on ${era}?`);
      await page.waitForConsentRequest(/a\s+(number\s+)?2/);
      await page.picture(`${era}-consent-request-tool`);
      await page.allow("Allow once");
      await page.waitForText("2 + 40 = 42", RESULT);
      await page.waitForText("Structured result", RESULT);
    });

    await step(`4 ${era}: a denied call is not sent`, async () => {
      await callTool(page, era, "fail");
      await page.click("button", "Deny", "[data-testid=consent-request]");
      await page.waitForText("You denied this call.", RESULT);
    });

    await step(`4 ${era}: a call shows its progress and message, and is cancelled`, async () => {
      await callTool(page, era, "slow_report", { Seconds: "60", Steps: "200" });
      await page.allow("Allow once");
      await page.waitForText(/Page \d+ of 200 is written/, RESULT);
      await page.picture(`${era}-progress`);
      await page.click("button", "Cancel the call", RESULT);
      await page.waitForText("Cancelled", RESULT);
    });

    await step(`4 ${era}: text, Markdown, a picture, a sound, a link and data are shown`, async () => {
      await callTool(page, era, "show_everything");
      await page.allow("Always allow this tool");
      await page.waitForText("Today in the harbour", RESULT);
      const shown = await page.until("the picture to be decoded", () =>
        page.run((selector) => {
          const result = document.querySelector(selector);
          const picture = result?.querySelector("img");
          return picture?.naturalWidth > 0 ? { sounds: result.querySelectorAll("audio").length } : null;
        }, RESULT),
      );
      assert.equal(shown.sounds, 1, "the sound should have a player");
      await page.waitForText("Sea chart", RESULT);
      await page.waitForText("Structured result", RESULT);
      await page.picture(`${era}-everything`);
      const sent = await called(page, era);
      await page.click("button", "Call", "main");
      await page.until("the second call to be sent", async () => (await called(page, era)) > sent);
      await page.waitForText("Today in the harbour", RESULT);
      assert.equal(await page.has("button", "Deny"), false, "a granted call should require no consent");
    });

    await step(`4 ${era}: an error of the tool is shown as an error`, async () => {
      await callTool(page, era, "fail");
      await page.allow("Allow once");
      await page.waitForText("The tool reported an error", RESULT);
    });
  }

  for (const era of ["legacy", "modern"]) {
    await step(`5 ${era}: a prompt is found by /, completed by the server, previewed and inserted into the conversation`, async () => {
      const { value } = await page.invoke("create_conversation", { title: `Trip (${era})` });
      await page.go(`#/conversation/${value.id}`);
      await page.click("textbox", "Message");
      await page.press("/");
      await page.waitForText("Greet a ship", "[role=dialog]");
      await page.until("the search field to be focused", () =>
        page.run(() => document.activeElement?.getAttribute("role") === "combobox"),
      );
      await page.picture(`${era}-prompts`);
      await page.press(..."Greet");
      await page.until("the prompt to be offered", () => page.has("option", /Greet a ship.*/, "[role=dialog]"));
      await page.click("option", new RegExp(`Greet a ship.*${era}`), "[role=dialog]");
      await page.fill(/^Harbour/, "Ber", "combobox");
      await page.click("option", "Bergen");
      await page.fill(/^Ship/, "Bor", "combobox");
      await page.click("option", "Borealis");
      await page.click("button", "Preview");
      await page.waitForText(/harbour master of Bergen to the crew of the Borealis/, "[role=dialog]");
      await page.picture(`${era}-prompt-preview`);
      await page.click("button", "Add to the message");
      await page.click("button", "Send", "[data-testid=composer]");
      await page.waitForText(/crew of the Borealis/, "main");
    });

    await step(`6 ${era}: a resource is read and marked when it changes, and a template is completed and read`, async () => {
      await page.go(`#/server/${era}/resources/${encodeURIComponent("clock:///now")}`);
      await page.click("button", "Read", "main");
      await page.click("button", "Watch for changes");
      await page.waitForText("Changed since you read it.", "main");
      await page.picture(`${era}-changed`);
      await page.click("button", "Stop watching");
      await page.go(`#/server/${era}/resources/${encodeURIComponent("tide:///{harbour}/{day}")}`);
      await page.fill("harbour", "ber", "combobox");
      await page.click("option", "Bergen");
      await page.fill("day", "tue", "combobox");
      await page.click("option", "tuesday");
      await page.waitForText("tide:///Bergen/tuesday", "main");
      await page.click("button", "Read", "main");
      await page.until("the table to be rendered", () => page.run(() => document.querySelector("main table") !== null));
      await page.picture(`${era}-template`);
    });

    await step(`6 ${era}: a resource is attached to a conversation`, async () => {
      await page.go(`#/server/${era}/resources/${encodeURIComponent("harbour:///welcome.txt")}`);
      await page.click("button", "Attach…");
      await page.click("button", "New conversation", "[role=dialog]");
      await page.waitForText(`from ${era}`, "main");
      await page.picture(`${era}-attached`);
    });

    await step(`6 ${era}: a skill is opened from its list, and read with its files`, async () => {
      await page.go(`#/server/${era}/skills`);
      await page.click("option", /plan-passage/, "main");
      await page.click("button", "Read", "main");
      await page.until("the instructions to be rendered", () => page.has("heading", "Plan a passage", "main"));
      await page.click("button", "references/rules-of-thumb.md", "main");
      await page.until("the file of the skill to be rendered", () => page.has("heading", "Rules of thumb", "main"));
      await page.picture(`${era}-skill`);
    });
  }
}
