// The keychain of the session, unlocked as after a login: GNOME's, with its files in the home of the walk.
import { execFileSync, spawn } from "node:child_process";
import { setTimeout as wait } from "node:timers/promises";

const NAME = "org.freedesktop.secrets";
const PASSWORD = "test";

/** Starts it. Like everything that the walk starts, it is found by its home and ended at the end. */
export async function startKeychain(env) {
  const args = ["--foreground", "--unlock", "--components=secrets"];
  const options = { env: { ...process.env, ...env }, stdio: ["pipe", "ignore", "ignore"] };
  const keychain = spawn("gnome-keyring-daemon", args, options);
  keychain.stdin.end(PASSWORD);
  for (let tries = 0; tries < 100; tries++) {
    if (isThere()) return;
    if (keychain.exitCode !== null) throw new Error(`gnome-keyring-daemon ended with status ${keychain.exitCode}`);
    await wait(50);
  }
  throw new Error("gnome-keyring-daemon does not answer");
}

/** Whether anything answers for it. To ask itself would start another one, that is locked. */
function isThere() {
  const to = ["--dest=org.freedesktop.DBus", "/", "org.freedesktop.DBus.NameHasOwner", `string:${NAME}`];
  return execFileSync("dbus-send", ["--session", "--print-reply", ...to], { encoding: "utf8" }).includes("true");
}
