// WebKitWebDriver, and a session with the app in it.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createConnection, createServer } from "node:net";
import { setTimeout as wait } from "node:timers/promises";

import WebDriver from "webdriver";

// The command for frames of the classic protocol is named as deprecated each time.
process.env.DISABLE_WEBDRIVERIO_DEPRECATION_WARNINGS = "true";

/**
 * Starts the driver, which starts the app.
 * @param {string} app Path of the app's executable.
 * @param {Record<string, string>} env Environment variables to add for the app.
 * @param {number} output File descriptor for the output of app and driver.
 * @param {string[]} args Command line arguments of the app.
 */
export async function startSession(app, env, output, args = []) {
  const port = await freePort();
  const driver = spawn("WebKitWebDriver", [`--port=${port}`], {
    env: { ...process.env, ...env, TAURI_WEBVIEW_AUTOMATION: "true" },
    stdio: ["ignore", output, output],
  });
  try {
    await listening(port, driver);
    const browser = await WebDriver.newSession({
      hostname: "127.0.0.1",
      port,
      logLevel: "silent",
      connectionRetryCount: 0,
      connectionRetryTimeout: 40_000,
      capabilities: {
        "wdio:enforceWebDriverClassic": true,
        "webkitgtk:browserOptions": { binary: app, args },
      },
    });
    return { browser, stop: () => stop(driver) };
  } catch (error) {
    await stop(driver);
    throw error;
  }
}

async function freePort() {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address();
  server.close();
  await once(server, "close");
  return port;
}

async function listening(port, driver) {
  for (let tries = 0; tries < 100; tries++) {
    if (driver.exitCode !== null) throw new Error(`WebKitWebDriver ended with status ${driver.exitCode}`);
    const socket = createConnection(port, "127.0.0.1");
    const connected = await Promise.race([
      once(socket, "connect").then(() => true),
      once(socket, "error").then(() => false),
    ]).catch(() => false);
    socket.destroy();
    if (connected) return;
    await wait(100);
  }
  throw new Error("WebKitWebDriver does not listen");
}

async function stop(driver) {
  if (driver.exitCode !== null || driver.signalCode !== null) return;
  const ended = once(driver, "exit");
  driver.kill("SIGTERM");
  await Promise.race([ended, wait(5000).then(() => driver.kill("SIGKILL"))]);
}
