// The end: whatever way the app ends, no server lives on.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { setTimeout as wait } from "node:timers/promises";

import { noneLeft, processes } from "./processes.mjs";

/** After closing, servers have this long to end by themselves, and are ended then. */
const CLOSING_MS = 8_000;
/** After a kill the system ends them, at once. */
const KILLED_MS = 3_000;

export async function closed(browser, place, step) {
  await step("a second start hands over to the first and ends", async () => {
    const second = start(place);
    const [status] = await Promise.race([once(second, "exit"), wait(10_000).then(() => ["none"])]);
    if (status === "none") second.kill("SIGKILL");
    assert.equal(status, 0, "it ends by itself, successfully");
  });

  await step("the window is closed: the app ends, and no server lives on", async () => {
    assert.ok(processes(place.home, place.demo).length >= 3, "servers run until then");
    await browser.closeWindow();
    assert.deepEqual(await noneLeft(place.home, place.demo, CLOSING_MS), [], "no server is left");
    assert.deepEqual(await noneLeft(place.home, place.app, CLOSING_MS), [], "the app is not either");
  });
}

export async function killed(place, step) {
  for (const [signal, limit] of [["SIGTERM", CLOSING_MS], ["SIGKILL", KILLED_MS]]) {
    await step(`started again, approved servers run; ${signal}: no server lives on`, async () => {
      const app = start(place);
      for (let tries = 0; processes(place.home, place.demo).length < 3; tries++) {
        assert.ok(tries < 150, "approved servers start with the app");
        await wait(100);
      }
      app.kill(signal);
      if (app.exitCode === null && app.signalCode === null) await once(app, "exit");
      assert.deepEqual(await noneLeft(place.home, place.demo, limit), [], "no server is left");
    });
  }
}

function start(place) {
  return spawn(place.app, [], { env: { ...process.env, ...place.env }, stdio: ["ignore", "inherit", "inherit"] });
}
