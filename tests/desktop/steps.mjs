// Counts the steps of everyday tasks, and how long the app lets a fast user wait. `run.mjs steps` writes the table
// `RESULTS.md`, and fails if a task takes more steps than before.
//
// A step is a click, a key with a modifier, the text of one field with the final Tab or Enter, or scrolling through
// the rest of a view. Reading and thinking take no time, but the delay before an approval is armed is counted.
import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";

import { KEY } from "./key-leaks.mjs";

const CONSENT_REQUEST = "[data-testid=consent-request]";
const TURN = "[data-testid=turn-requests]";
const RESULT = "[data-testid=tool-result]";
const DIALOG = "[role=dialog], [role=alertdialog]";
const COMPOSER = "[data-testid=composer]";
/** Time in milliseconds that the arming of an approval takes, including a margin. */
const ARMING_MS = 700;
const ENTER = "\uE007";

/** Everyday tasks, each with the target and the current maximum of its number of steps. */
const TASKS = {
  first: { what: "First start to the first result", goal: 4, most: 4 },
  again: { what: "The same call again, approved a moment ago", goal: 1, most: 1 },
  covered: { what: "The same call again, allowed until Drawbridge closes", goal: 1, most: 1 },
  three: { what: "Allow three calls of one turn", goal: 2, most: 2 },
  deny: { what: "Deny with a reason", goal: 2, most: 2 },
  add: { what: "Add a server by paste", goal: 4, most: 3 },
  prompt: { what: "Send a prompt found by `/`", goal: 4, most: 4 },
  revoke: { what: "Find and revoke an approval", goal: 3, most: 2 },
};

/** Page that counts the actions of a user. */
class Counted {
  steps = 0;
  #page;
  #startedAt = Date.now();

  constructor(page) {
    this.#page = page;
  }

  async click(role, name, within) {
    await this.#page.until(`the ${role} ${name} to be visible`, () => this.#page.has(role, name, within));
    this.steps += 1;
    await this.#page.goAndClick(role, name, within);
  }

  /** Types a text into the focused element. */
  async type(text) {
    this.steps += 1;
    await this.#page.press(...text);
  }

  async replace(name, text) {
    this.steps += 1;
    await this.#page.fill(name, text);
  }

  /** Approves the consent request. Scrolling to its end counts as a separate step. */
  async allow(name, frame = CONSENT_REQUEST) {
    const page = this.#page;
    const isArmed = () => page.isOn("button", name, frame);
    await page.until(`${name} to be visible`, () => page.has("button", name, frame));
    await page.until("the request to be armed, or to have a part out of view", async () => {
      if (await isArmed()) return true;
      return (await page.text(frame)).includes("Scroll through all of it to allow");
    });
    if (!(await isArmed())) {
      this.steps += 1;
      // In a conversation the start of the request may be above the visible area, elsewhere its end below.
      await page.until("the request to be viewed completely, and armed", async () => {
        await page.run((selector) => document.querySelector(selector).scrollIntoView({ block: "start" }), frame);
        await page.wheel(`${frame} section`);
        await wait(ARMING_MS);
        return isArmed();
      });
    }
    this.steps += 1;
    await page.goAndClick("button", name, frame);
  }

  get seconds() {
    return (Date.now() - this.#startedAt) / 1000;
  }
}

export async function steps(page, place, step) {
  const found = new Map();

  async function measure(page, task, act) {
    const user = new Counted(page);
    await act(user);
    const { steps, seconds } = user;
    found.set(task, { steps, seconds });
    const { what, most } = TASKS[task];
    console.log(`        ${what}: ${steps} steps, ${seconds.toFixed(1)} s`);
    assert.ok(steps <= most, `${what} should take at most ${most} steps, not ${steps}`);
  }

  await step("steps: from the first start to the first result, and the same call again", async () => {
    await measure(page, "first", async (user) => {
      await user.click("button", "Start the demo server");
      await user.allow("Always allow this command");
      await user.click("button", "Call", "main");
      await user.allow("Allow once");
      await page.waitForText("2 + 3 = 5", RESULT);
    });
    const calls = async () => {
      const { value } = await page.invoke("read_activity", { server: "demo", after: null, limit: 2000 });
      return value.entries.filter(({ sent, method }) => sent && method === "tools/call").length;
    };
    const repeat = async (user, name, result) => {
      const before = await calls();
      await page.until(`${name} to be armed`, () => page.isOn("button", name, "main"));
      await user.click("button", name, "main");
      await page.until("the call to be sent", async () => (await calls()) > before);
      await page.waitForText(result, RESULT);
    };
    await measure(page, "again", (user) => repeat(user, "Call again", "2 + 3 = 5"));
    await page.fill(/^First number/, "4");
    await page.click("button", "Call", "main");
    await page.allow("Allow until Drawbridge closes");
    await page.waitForText("4 + 3 = 7", RESULT);
    await measure(page, "covered", (user) => repeat(user, "Call", "4 + 3 = 7"));
  });

  await step("steps: a grant is found and revoked", async () => {
    await measure(page, "revoke", async (user) => {
      await user.click("link", "Rules");
      await user.click("button", /^Revoke: .*add/, "main");
      await page.until("the grant to be removed", async () => !(await page.has("button", /^Revoke: .*add/, "main")));
    });
  });

  await step("steps: a server is added by paste", async () => {
    await measure(page, "add", async (user) => {
      await user.click("link", "Add a server");
      if (!(await page.has("textbox", /^URL, command/, "main"))) await user.click("tab", "Paste");
      const config = { mcpServers: { everything: { command: process.execPath, args: [place.everything] } } };
      await user.replace("URL, command, or the configuration from the server's README", JSON.stringify(config));
      await user.click("button", "Add 1 server");
      await page.waitForElement("heading", "everything");
    });
  });

  await step("steps: a model is set up, and a prompt found by / is sent", async () => {
    await page.go("#/models");
    await page.click("button", "Add a provider");
    await page.choose("Provider", "Other (by address)", DIALOG);
    await page.fill("Name", "Fake lab", "textbox", DIALOG);
    await page.fill("Address", `${place.provider.url}/v1`, "textbox", DIALOG);
    await page.fill("Key, if required", KEY, "textbox", DIALOG);
    await page.click("button", "Add", DIALOG);
    await page.waitForText(/It responded with \d+ models/, "main");
    await page.click("disclosure", /^\d+ models$/);
    await page.click("button", "Use gpt-4o by default");
    await page.waitForText("Default model: gpt-4o of Fake lab.", "main");
    await startApp(page);
    await measure(page, "prompt", async (user) => {
      await user.type("/");
      await page.until("the search field to be focused", () =>
        page.run(() => document.activeElement?.getAttribute("role") === "combobox"),
      );
      await user.type("Safety");
      await page.until("the prompt to be offered", () => page.has("option", /Safety check/, "[role=dialog]"));
      await page.press(ENTER);
      const add = () => page.has("button", "Add to the message", DIALOG);
      await page.until("the preview or its button to be visible", async () => (await add()) || page.has("button", "Preview", DIALOG));
      if (!(await add())) await user.click("button", "Preview", DIALOG);
      await user.click("button", "Add to the message", DIALOG);
      await user.click("button", "Send", COMPOSER);
      await page.until("the message to be sent", async () => {
        if (!(await page.has("button", "Send", COMPOSER))) return true;
        return /safety/i.test(await page.text("main [role=log]"));
      });
    });
  });

  await step("steps: three calls of one turn are approved, and another is denied with a reason", async () => {
    await startApp(page);
    await page.fill("Message", "Please add three times");
    await page.click("button", "Send", COMPOSER);
    await page.waitForText("Run 3 tool calls?", TURN);
    await measure(page, "three", async (user) => {
      await user.allow("Allow these 3", TURN);
      await page.waitForText("All three are done.", "main");
    });
    await startApp(page);
    await page.fill("Message", "Please add once");
    await page.click("button", "Send", COMPOSER);
    await page.waitForConsentRequest("Run add on demo?");
    await measure(page, "deny", async (user) => {
      await user.click("button", "Deny with a reason…", CONSENT_REQUEST);
      await user.type("not today");
      // A denial is armed after a moment without keys, too.
      await page.until("the denial to be armed", () => page.isOn("button", "Deny and send the reason", CONSENT_REQUEST));
      await page.press(ENTER);
      await page.waitForText("Then I leave it.", "main");
    });
    writeFileSync(join(import.meta.dirname, "RESULTS.md"), table(found));
  });
}

async function startApp(page) {
  await page.click("button", "New conversation", "nav");
  await page.waitForText("Start here", "main");
  await page.click("textbox", "Message");
}

/** Creates the table of results as Markdown. Tasks that exceed their target are highlighted. */
function table(found) {
  const rows = Object.entries(TASKS).map(([task, { what, goal }]) => {
    const { steps, seconds } = found.get(task);
    const shown = steps > goal ? `**${steps}**` : String(steps);
    return `| ${what} | ${shown} | ${goal} | ${seconds.toFixed(1)} |`;
  });
  return `# Everyday tasks in the real window

Counted by \`steps.mjs\` in the built app on a virtual display; \`node tests/desktop/run.mjs steps\` writes this table. A step is a click, a
key with a modifier, the text of one field with the final Tab or Enter, or scrolling through the rest of a view. The seconds exclude reading
time and include the delay before an approval is armed. Bold: more steps than the goal.

| task | steps | goal | seconds |
| --- | --- | --- | --- |
${rows.join("\n")}
`;
}
