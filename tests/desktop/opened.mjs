// What is opened from outside of the window: bundle files and install links. It only ever opens a sheet.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { archive } from "../bundle.cjs";
import { handedOver } from "./background.mjs";

const DIALOG = "[role=dialog]";
const SECTION = "section[aria-labelledby=settings-desktop]";
const LINKS = "Open drawbridge: links with this app";
const UNKNOWN = "The source of this link is not known";

/** A bundle of this name in the user's home folder. Its server would leave a mark if it ran. */
export function bundleOf(place, name) {
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

export async function openedAtFirst(page, place, step) {
  await step("started with a bundle's file: the sheet is there with the focus in it, and nothing is installed", async () => {
    await page.reads("Install first", DIALOG);
    await page.reads("first bundle.mcpb", DIALOG);
    await page.until("the focus in the sheet", () => page.run(() => document.activeElement?.closest("[role=dialog]") !== null));
    await page.picture("opened-at-first");
    await nothingCameOfIt(page, place, "first");
    await close(page);
  });
}

export async function opened(page, place, step) {
  await step("files that are opened while the app runs come one after another, and none takes the place of another", async () => {
    assert.equal(await handedOver(place, [bundleOf(place, "second"), bundleOf(place, "third")]), 0, "the second start hands over");
    await page.reads("Install second", DIALOG);
    assert.equal(await handedOver(place, [bundleOf(place, "fourth")]), 0, "another one");
    assert.match(await page.text(DIALOG), /Install second/, "what is looked at stays");
    for (const next of ["third", "fourth"]) {
      await page.click("button", "Cancel", DIALOG);
      await page.reads(`Install ${next}`, DIALOG);
    }
    await close(page);
    await nothingCameOfIt(page, place, "second");
  });

  await step("what is no bundle is not opened, and says why", async () => {
    const [pipe, text] = [join(place.home, "pipe.mcpb"), join(place.home, "text.txt")];
    execFileSync("mkfifo", [pipe]);
    writeFileSync(text, "");
    assert.equal(await handedOver(place, [pipe]), 0, "a pipe keeps nobody waiting");
    await page.reads("This is not a file");
    await page.reads(pipe);
    assert.equal(await handedOver(place, [text, join(place.home, "none.mcpb")]), 0, "others");
    await page.reads("This file is not a bundle");
    await page.reads("This file does not exist");
    await page.picture("refused");
    assert.equal(await page.run((dialog) => document.querySelector(dialog), DIALOG), null, "no sheet is opened");
    await closeNotes(page);
  });

  await step("links are off until they are turned on: what comes is refused", async () => {
    const handler = join(place.env.XDG_DATA_HOME, "applications/drawbridge-links.desktop");
    assert.ok(!existsSync(handler), "nothing is registered at first");
    assert.equal(await handedOver(place, [linkTo({ command: "npx", args: ["a"] })]), 0, "a link by hand");
    await page.reads("links are turned off in Settings");
    await closeNotes(page);
    await page.go("#/settings");
    await page.click("checkbox", LINKS, SECTION);
    await page.until("the handler", () => existsSync(handler));
    assert.match(readFileSync(join(place.env.XDG_CONFIG_HOME, "mimeapps.list"), "utf8"), /^x-scheme-handler\/drawbridge=drawbridge-links.desktop;$/m);
    await page.until("the switch to be on", () => isOn(page));
  });

  await step("X58 a link fills in a sheet that shows all of it, one at a time, and adds and starts nothing", async () => {
    const config = { command: "npx", args: ["-c", "touch ~/ran", "--yes"], env: { NODE_OPTIONS: "--require evil" } };
    assert.equal(await handedOver(place, [linkTo(config)]), 0, "as the browser starts it");
    await page.reads(UNKNOWN, DIALOG);
    await page.reads("touch ~/ran", DIALOG);
    await page.reads("NODE_OPTIONS", DIALOG);
    await page.until("the focus in the sheet", () => page.run(() => document.activeElement?.closest("[role=dialog]") !== null));
    await page.picture("link");
    for (let more = 0; more < 3; more++) {
      assert.equal(await handedOver(place, [linkTo({ command: "sh", args: ["-c", "exit"] }, `more${more}`)]), 0, "more links");
    }
    assert.match(await page.text(DIALOG), /touch ~\/ran/, "what is looked at stays");
    await page.click("button", "Cancel", DIALOG);
    await page.reads("3 more files or links were not opened");
    assert.equal(await page.run((dialog) => document.querySelector(dialog), DIALOG), null, "and none of them opens a sheet");
    await closeNotes(page);
    await nothingCameOfIt(page, place, "proposed");
  });

  await step("X58 a link that asks for more than a link may is refused", async () => {
    assert.equal(await handedOver(place, [linkTo({ command: "npx", args: ["a"], dxtPath: "/tmp/other" })]), 0, "another key");
    await page.reads("dxtPath", DIALOG);
    assert.equal(await page.has("button", /^Add/, DIALOG), false, "there is nothing to add");
    await page.picture("hostile-link");
    await close(page);
    const others = ["drawbridge://mcp/start?name=demo", "cursor://anysphere.cursor-deeplink/mcp/install?name=a&config=e30", `drawbridge://mcp/install?name=a&config=${"A".repeat(40_000)}`];
    assert.equal(await handedOver(place, others), 0, "links that install nothing");
    await page.reads("it is not an install link for Drawbridge");
    await page.reads("it is too long");
    assert.equal(await page.run((dialog) => document.querySelector(dialog), DIALOG), null, "no sheet is opened");
    await closeNotes(page);
    await nothingCameOfIt(page, place, "proposed");
  });

  await step("links are turned off, and nothing of it is left", async () => {
    await page.click("checkbox", LINKS, SECTION);
    await page.until("the handler to be gone", () => !existsSync(join(place.env.XDG_DATA_HOME, "applications/drawbridge-links.desktop")));
    assert.doesNotMatch(readFileSync(join(place.env.XDG_CONFIG_HOME, "mimeapps.list"), "utf8"), /drawbridge/, "nor the choice");
  });
}

async function nothingCameOfIt(page, place, name) {
  const { value } = await page.invoke("snapshot", {});
  assert.ok(!value.servers.some((server) => server.name === name), "no server is added");
  assert.ok(!existsSync(join(place.data, "bundles")), "nothing is unpacked");
  assert.ok(!existsSync(join(place.home, "ran")), "nothing has run");
}

async function close(page) {
  await page.click("button", "Cancel", DIALOG);
  await page.until("the sheet to be gone", () => page.run((dialog) => document.querySelector(dialog) === null, DIALOG));
}

/** Closes the notes at the bottom. */
async function closeNotes(page) {
  await page.until("no notes", async () => {
    if (!(await page.has("button", "Close", ".failures"))) return true;
    await page.click("button", "Close", ".failures");
    return false;
  });
}

const isOn = (page) =>
  page.run((section, label) => {
    const boxes = [...document.querySelectorAll(`${section} input[type=checkbox]`)];
    return boxes.find(({ labels }) => labels[0].textContent === label)?.checked === true;
  }, SECTION, LINKS);
