// Unlocked keychain of the session, as after a login: gnome-keyring with its files in the home of the test.
import { execFileSync, spawn } from "node:child_process";
import { setTimeout as wait } from "node:timers/promises";

const SECRET_SERVICE_NAME = "org.freedesktop.secrets";
const PASSWORD = "test";

/**
 * Starts the keychain service. Like all processes of a test, it is identified by its home folder and killed when the
 * test ends.
 */
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
  throw new Error("gnome-keyring-daemon does not respond");
}

/**
 * Returns `true` if the keychain service is running. A request to it would start another service whose keychain is
 * locked.
 */
function isThere() {
  const to = ["--dest=org.freedesktop.DBus", "/", "org.freedesktop.DBus.NameHasOwner", `string:${SECRET_SERVICE_NAME}`];
  return execFileSync("dbus-send", ["--session", "--print-reply", ...to], { encoding: "utf8" }).includes("true");
}
