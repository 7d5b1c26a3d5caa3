// Bundles and install links opened from outside of the window. They only open a sheet.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { archive } from "../bundle.cjs";
import { startSecondInstance } from "./background.mjs";

const DIALOG = "[role=dialog]";
const DESKTOP_SETTINGS = "section[aria-labelledby=settings-desktop]";
const OPEN_LINKS_LABEL = "Open drawbridge: links with this app";
const UNKNOWN_SOURCE_WARNING = "The source of this link is not known";

/**
 * Creates a bundle with this name in the user's home folder. Its server would create a marker file if it were started.
 */
export function createBundle(place, name) {
  const manifest = {
    ...{ manifest_version: "0.3", name, version: "1.0.0", description: "Opened from outside", author: { name: "Alice" } },
    server: { type: "node", entry_point: "index.js", mcp_config: { command: "node", args: ["${__dirname}/index.js"] } },
  };
  const mark = `require("node:fs").writeFileSync(${JSON.stringify(join(place.home, "ran"))}, "")\n`;
  const path = join(place.home, `${name} bundle.mcpb`);
  writeFileSync(path, archive({ "manifest.json": JSON.stringify(manifest), "index.js": mark }));
  return path;
}

function linkTo(config, name = "proposed") {
  return `drawbridge://mcp/install?name=${name}&config=${Buffer.from(JSON.stringify(config)).toString("base64url")}`;
}

export async function openedAtStart(page, place, step) {
  await step("a start with a bundle file shows the focused sheet, and installs nothing", async () => {
    await page.waitForText("Install first", DIALOG);
    await page.waitForText("first bundle.mcpb", DIALOG);
    await page.until("the sheet to be focused", () => page.run(() => document.activeElement?.closest("[role=dialog]") !== null));
    await page.picture("opened-at-first");
    await assertNothingInstalled(page, place, "first");
    await close(page);
  });
}

export async function openedWhileRunning(page, place, step) {
  await step("files opened while the app runs are shown one after another", async () => {
    assert.equal(
      await startSecondInstance(place, [createBundle(place, "second"), createBundle(place, "third")]),
      0,
      "the second instance should exit successfully",
    );
    await page.waitForText("Install second", DIALOG);
    assert.equal(await startSecondInstance(place, [createBundle(place, "fourth")]), 0, "the second instance should exit successfully");
    assert.match(await page.text(DIALOG), /Install second/, "the open sheet should not be replaced");
    for (const next of ["third", "fourth"]) {
      await page.click("button", "Cancel", DIALOG);
      await page.waitForText(`Install ${next}`, DIALOG);
    }
    await close(page);
    await assertNothingInstalled(page, place, "second");
  });

  await step("a file that is not a bundle is refused with the reason", async () => {
    const [pipe, text] = [join(place.home, "pipe.mcpb"), join(place.home, "text.txt")];
    execFileSync("mkfifo", [pipe]);
    writeFileSync(text, "");
    assert.equal(await startSecondInstance(place, [pipe]), 0, "the second instance should not wait for the pipe");
    await page.waitForText("This is not a file");
    await page.waitForText(pipe);
    assert.equal(
      await startSecondInstance(place, [text, join(place.home, "none.mcpb")]),
      0,
      "the second instance should exit successfully",
    );
    await page.waitForText("This file is not a bundle");
    await page.waitForText("This file does not exist");
    await page.picture("refused");
    assert.equal(await page.run((dialog) => document.querySelector(dialog), DIALOG), null, "no sheet should be opened");
    await closeNotes(page);
  });

  await step("links are disabled by default and refused", async () => {
    const handler = join(place.env.XDG_DATA_HOME, "applications/drawbridge-links.desktop");
    assert.ok(!existsSync(handler), "no handler should be registered by default");
    assert.equal(
      await startSecondInstance(place, [linkTo({ command: "npx", args: ["a"] })]),
      0,
      "the second instance should exit successfully",
    );
    await page.waitForText("links are turned off in Settings");
    await closeNotes(page);
    await page.go("#/settings");
    await page.click("checkbox", OPEN_LINKS_LABEL, DESKTOP_SETTINGS);
    await page.until("the handler to be registered", () => existsSync(handler));
    assert.match(readFileSync(join(place.env.XDG_CONFIG_HOME, "mimeapps.list"), "utf8"), /^x-scheme-handler\/drawbridge=drawbridge-links.desktop;$/m);
    await page.until("the checkbox to be checked", () => isOn(page));
  });

  await step("X58 a link fills in a sheet that shows it completely, one at a time, and adds and starts nothing", async () => {
    const config = { command: "npx", args: ["-c", "touch ~/ran", "--yes"], env: { NODE_OPTIONS: "--require evil" } };
    assert.equal(await startSecondInstance(place, [linkTo(config)]), 0, "the second instance should exit successfully");
    await page.waitForText(UNKNOWN_SOURCE_WARNING, DIALOG);
    await page.waitForText("touch ~/ran", DIALOG);
    await page.waitForText("NODE_OPTIONS", DIALOG);
    await page.until("the sheet to be focused", () => page.run(() => document.activeElement?.closest("[role=dialog]") !== null));
    await page.picture("link");
    for (let more = 0; more < 3; more++) {
      assert.equal(
        await startSecondInstance(place, [linkTo({ command: "sh", args: ["-c", "exit"] }, `more${more}`)]),
        0,
        "the second instance should exit successfully",
      );
    }
    assert.match(await page.text(DIALOG), /touch ~\/ran/, "the open sheet should not be replaced");
    await page.click("button", "Cancel", DIALOG);
    await page.waitForText("3 more files or links were not opened");
    assert.equal(await page.run((dialog) => document.querySelector(dialog), DIALOG), null, "no other link should open a sheet");
    await closeNotes(page);
    await assertNothingInstalled(page, place, "proposed");
  });

  await step("X58 a link with forbidden options is refused", async () => {
    assert.equal(
      await startSecondInstance(place, [linkTo({ command: "npx", args: ["a"], dxtPath: "/tmp/other" })]),
      0,
      "the second instance should exit successfully",
    );
    await page.waitForText("dxtPath", DIALOG);
    assert.equal(await page.has("button", /^Add/, DIALOG), false, "the sheet should offer nothing to add");
    await page.picture("hostile-link");
    await close(page);
    const forbiddenLinks = ["drawbridge://mcp/start?name=demo", "cursor://anysphere.cursor-deeplink/mcp/install?name=a&config=e30", `drawbridge://mcp/install?name=a&config=${"A".repeat(40_000)}`];
    assert.equal(await startSecondInstance(place, forbiddenLinks), 0, "the second instance should exit successfully");
    await page.waitForText("it is not an install link for Drawbridge");
    await page.waitForText("it is too long");
    assert.equal(await page.run((dialog) => document.querySelector(dialog), DIALOG), null, "no sheet should be opened");
    await closeNotes(page);
    await assertNothingInstalled(page, place, "proposed");
  });

  await step("disabling links removes the handler completely", async () => {
    await page.click("checkbox", OPEN_LINKS_LABEL, DESKTOP_SETTINGS);
    await page.until("the handler to be removed", () => {
      return !existsSync(join(place.env.XDG_DATA_HOME, "applications/drawbridge-links.desktop"));
    });
    assert.doesNotMatch(
      readFileSync(join(place.env.XDG_CONFIG_HOME, "mimeapps.list"), "utf8"),
      /drawbridge/,
      "the app should not be the default for links any more",
    );
  });
}

async function assertNothingInstalled(page, place, name) {
  const { value } = await page.invoke("read_snapshot", {});
  assert.ok(!value.servers.some((server) => server.name === name), "no server should be added");
  assert.ok(!existsSync(join(place.data, "bundles")), "no bundle should be unpacked");
  assert.ok(!existsSync(join(place.home, "ran")), "nothing should have run");
}

async function close(page) {
  await page.click("button", "Cancel", DIALOG);
  await page.until("the sheet to be closed", () => page.run((dialog) => document.querySelector(dialog) === null, DIALOG));
}

/** Closes the failure notes at the bottom of the main area. */
async function closeNotes(page) {
  await page.until("all notes to be closed", async () => {
    if (!(await page.has("button", "Close", ".failures"))) return true;
    await page.click("button", "Close", ".failures");
    return false;
  });
}

const isOn = (page) =>
  page.run((section, label) => {
    const boxes = [...document.querySelectorAll(`${section} input[type=checkbox]`)];
    return boxes.find(({ labels }) => labels[0].textContent === label)?.checked === true;
  }, DESKTOP_SETTINGS, OPEN_LINKS_LABEL);
