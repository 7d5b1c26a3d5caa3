import { mkdtempSync, readFileSync, realpathSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { allow, callTool, DEMO, expect, LEGACY, consentRequest, waitUntilDeniable, test, visit } from "./fixtures";

const commandOf = (file: string, name: string): unknown =>
  (JSON.parse(readFileSync(file, "utf8")) as { mcpServers: Record<string, unknown> }).mcpServers[name];

test.describe("adding a server", () => {
  test.use({ setup: { ...LEGACY, running: [] } });

  test("by form: the typed command requires consent exactly as typed", async ({ app, host }) => {
    await visit(app, "#/add-server");
    await app.getByRole("tab", { name: "Fill in" }).click();
    const form = app.getByRole("form", { name: "Fill in" });
    await form.getByRole("textbox", { name: "Name", exact: true }).fill("my harbour");
    await form.getByRole("textbox", { name: "Command" }).fill(DEMO);
    for (const [index, argument] of ["--revision", "2025-06-18"].entries()) {
      await form.getByRole("button", { name: "Add argument" }).click();
      await form.getByRole("textbox", { name: `Argument ${index + 1}` }).fill(argument);
    }
    await form.getByRole("button", { name: "Add variable" }).click();
    await form.getByRole("textbox", { name: "Name of variable 1" }).fill("HARBOUR");
    await form.getByLabel("Value of HARBOUR", { exact: true }).fill("two words");
    host.setDialogAnswer("pick-folder", host.folder);
    await form.getByRole("button", { name: "Choose…" }).click();
    await expect(form.getByRole("textbox", { name: "Working folder" })).toHaveValue(host.folder);
    await form.getByRole("button", { name: "Add server" }).click();

    await expect(app.getByRole("heading", { name: "my harbour", level: 1 })).toBeVisible();
    expect(commandOf(host.config, "my harbour"), "the settings file should contain the server in readable form").toEqual({
      command: DEMO,
      args: ["--revision", "2025-06-18"],
      env: { HARBOUR: "two words" },
      cwd: host.folder,
    });
    await app.getByRole("main").getByRole("button", { name: "Start", exact: true }).click();
    const frame = consentRequest(app);
    for (const part of [DEMO, "--revision", "2025-06-18", "HARBOUR", "two words", host.folder]) {
      await expect(frame, `the request should show ${part} before the start`).toContainText(part);
    }
    await allow(app, "Always allow this command");
    await expect(app.getByRole("main").getByText("2025-06-18").first(), "the overview should show the protocol revision").toBeVisible();
  });

  test("from a README's JSON, with a note on unsupported settings", async ({ app, host }) => {
    await visit(app, "#/add-server");
    const pasted = app.getByRole("textbox", { name: "URL, command, or the configuration from the server's README" });
    await pasted.fill('{"mcpServers": {\n  "files": {"command": }\n}}');
    await expect(app.getByText(/^Line 2, column/), "the position of the syntax error should be shown").toBeVisible();
    await expect(app.locator("mark"), "the place should be marked").toBeVisible();
    await pasted.fill("http://127.0.0.1:9/mcp");
    const add = app.getByRole("button", { name: "Add 1 server" });
    await expect(add, "the button should stay in view below a long form").toBeInViewport({ ratio: 1 });
    await pasted.fill(
      JSON.stringify({ servers: { notes: { type: "stdio", command: DEMO, args: ["--era", "both"] } } }),
    );
    await expect(app.getByRole("heading", { name: "Found 1 server" })).toBeVisible();
    await app.getByRole("button", { name: "Add 1 server" }).click();
    await expect(app.getByRole("heading", { name: "notes", level: 1 })).toBeVisible();
    expect(commandOf(host.config, "notes"), "the settings file should contain only the supported settings").toMatchObject({
      command: DEMO,
      args: ["--era", "both"],
    });
  });

  test("E12: a pasted install link of Cursor is read, and never a shell command", async ({ app, host }) => {
    const entry = { command: DEMO, args: ["--era", "<era>"], env: { HARBOUR: "" } };
    const config = encodeURIComponent(Buffer.from(JSON.stringify(entry)).toString("base64"));
    await visit(app, "#/add-server");
    const text = app.getByRole("textbox", { name: /^URL, command/ });
    await text.fill(`cursor://anysphere.cursor-deeplink/mcp/install?name=pier&config=${config}`);
    const found = app.getByRole("group", { name: "pier" });
    await expect(found.getByText(`${DEMO} --era '<era>'`), "the command in the link should be shown").toBeVisible();
    await expect(found, "the link should not be a command").not.toContainText("cursor:");
    const placeholder = found.getByText(/^Argument 2: <era> looks like a placeholder/);
    const empty = found.getByText(/^HARBOUR is empty/);
    await expect(placeholder).toBeVisible();
    await expect(empty).toBeVisible();
    await found.getByRole("button", { name: "Change…" }).click();
    await found.getByRole("textbox", { name: "Argument 2" }).fill("both");
    await expect(placeholder, "the warning should vanish once the placeholder was replaced").toHaveCount(0);
    await found.getByRole("textbox", { name: "Value of HARBOUR" }).fill("east");
    await expect(empty, "the warning should vanish once the variable was filled in").toHaveCount(0);
    await app.getByRole("button", { name: "Add 1 server" }).click();
    await expect(app.getByRole("main").getByRole("heading", { level: 1 })).toHaveText("pier");
    expect(commandOf(host.config, "pier"), "the entered values should be stored").toMatchObject({
      ...{ command: DEMO, args: ["--era", "both"], env: { HARBOUR: "east" } },
    });

    await visit(app, "#/add-server");
    await text.fill("cursor://anysphere.cursor-deeplink/mcp/install?name=a&config=-_-_+/");
    await expect(app.getByText(/its content is not valid base64/), "a broken link should be explained").toBeVisible();
    await expect(app.getByRole("button", { name: /^Add \d/ }), "a broken link should not be a command").toHaveCount(0);
  });

  test("E12: the inputs of VS Code become fields", async ({ app, host }) => {
    const servers = { pier: { command: DEMO, args: ["--era", "${input:era}"], env: { API_KEY: "${input:key}" } } };
    const inputs = [
      { id: "era", type: "promptString", description: "Protocol" },
      { id: "key", type: "promptString", description: "The key", password: true },
    ];
    await visit(app, "#/add-server");
    await app.getByRole("textbox", { name: /^URL, command/ }).fill(JSON.stringify({ inputs, servers }));
    const found = app.getByRole("group", { name: "pier" });
    const fields = found.getByRole("group", { name: "Values to fill in" });
    await expect(found.getByText(/stands for a value that the other app asks for/)).toHaveCount(2);
    await fields.getByLabel("era").fill("both");
    await expect(found.getByText(`${DEMO} --era both`), "the exact command should be shown").toBeVisible();
    await fields.getByLabel("key").fill("s3cret-value-1");
    await expect(found.getByText(/stands for a value|passes .* unchanged/), "no warning should remain").toHaveCount(0);
    await app.getByRole("button", { name: "Add 1 server" }).click();
    await expect(app.getByRole("main").getByRole("heading", { level: 1 })).toHaveText("pier");
    const file = readFileSync(host.config, "utf8");
    expect(file, "the settings file should contain the argument").toContain('"both"');
    expect(file, "the secret should be stored in the keychain").not.toContain("s3cret-value-1");
  });

  test("E12: a prompted password goes to the keychain, or is noted as plain text", async ({ app, host }) => {
    const servers = { pier: { command: DEMO, args: ["--era", "${input:era}"], env: { HARBOUR: "${input:pin}" } } };
    const inputs = ["era", "pin"].map((id) => ({ id, type: "promptString", description: id, password: true }));
    await visit(app, "#/add-server");
    await app.getByRole("textbox", { name: /^URL, command/ }).fill(JSON.stringify({ inputs, servers }));
    const found = app.getByRole("group", { name: "pier" });
    const plain = found.getByText(/^Argument 2: \$\{input:era\} is a password\..*stored as plain text/);
    await expect(plain, "the note should precede the entry of the password").toBeVisible();
    await expect(found.getByText(/is a password\./), "a variable can be stored in the keychain").toHaveCount(1);
    const fields = found.getByRole("group", { name: "Values to fill in" });
    for (const [id, value] of [["era", "both"], ["pin", "s3cret-value-2"]] as const) {
      await expect(fields.getByLabel(id), "passwords should be hidden").toHaveAttribute("type", "password");
      await fields.getByLabel(id).fill(value);
    }
    await expect(plain, "the note should stay, because the value is stored as plain text").toBeVisible();
    await app.getByRole("button", { name: "Add 1 server" }).click();
    await expect(app.getByRole("main").getByRole("heading", { level: 1 })).toHaveText("pier");
    const file = readFileSync(host.config, "utf8");
    expect(file, "the argument should be stored where the note says").toContain('"both"');
    expect(file, "the variable should be stored in the keychain").not.toContain("s3cret-value-2");
  });

  test("a taken name is rejected with an explanation", async ({ app }) => {
    await visit(app, "#/add-server");
    await app.getByRole("tab", { name: "Fill in" }).click();
    const form = app.getByRole("form", { name: "Fill in" });
    await form.getByRole("textbox", { name: "Name", exact: true }).fill("harbour");
    await form.getByRole("textbox", { name: "Command" }).fill("x");
    await form.getByRole("button", { name: "Add server" }).click();
    await expect(form.getByText("Another server has this name.")).toBeVisible();
  });
});

test("the overview shows the negotiated session, and marks the claims of the server", async ({ app }) => {
  await visit(app, "#/server/harbour/overview");
  const main = app.getByRole("main");
  await expect(main.getByText("2025-11-25").first(), "the overview should show the revision in use").toBeVisible();
  await expect(
    main.getByText("initialize", { exact: false }).first(),
    "the overview should show how the revision was detected",
  ).toBeVisible();
  await expect(main.getByText("tools.listChanged").first(), "the overview should show the capabilities").toBeVisible();
  await expect(main.getByText("Provided by the server. Drawbridge can't verify it.")).toBeVisible();
});

test("a server is stopped, started without consent, and restarted", async ({ app, host }) => {
  await visit(app, "#/server/harbour/overview");
  const main = app.getByRole("main");
  await main.getByRole("button", { name: "Stop" }).click();
  await expect(main.getByText("stopped").first()).toBeVisible();
  expect((await host.snapshot()).servers[0]?.pid ?? null, "the process should have ended").toBeNull();
  await main.getByRole("button", { name: "Start", exact: true }).click();
  await expect(main.getByText("ready").first(), "an approved command should require no consent").toBeVisible();
  const before = (await host.snapshot()).servers[0]?.pid;
  await main.getByRole("button", { name: "Restart" }).click();
  // The server is still ready until the host has received the command.
  const another = async () => {
    const server = (await host.snapshot()).servers[0];
    return server?.state.is === "ready" && server.pid !== before;
  };
  await expect.poll(another, "the server should run as another process").toBe(true);
});

test("a changed command requires consent again, and shows its changes", async ({ app }) => {
  await visit(app, "#/server/harbour/settings");
  await app.getByRole("textbox", { name: "Argument 2" }).fill("modern");
  await app.getByRole("button", { name: "Save", exact: true }).click();
  await app.getByRole("main").getByRole("button", { name: "Start", exact: true }).click();
  const frame = consentRequest(app);
  await expect(frame).toContainText("This is not the command you approved. Changes are marked.");
  await expect(frame.getByText("legacy").first(), "the request should show the approved argument").toBeVisible();
  await expect(frame.getByText("modern").first(), "the request should show the new argument").toBeVisible();
  await waitUntilDeniable(app);
  await app.keyboard.press("Escape");
  await expect(frame, "Escape should put the request aside").toBeHidden();
  await app.getByRole("main").getByRole("button", { name: "Show the request" }).click();
  await expect(frame, "the request should still wait for a decision").toBeVisible();
  await frame.getByRole("button", { name: "Deny" }).click();
  await expect(frame).toBeHidden();
  await visit(app, "#/server/harbour/overview");
  await expect(app.getByRole("main").getByText("You denied the start."), "a denial should not be shown as a failure").toBeVisible();
  await expect(app.getByRole("main").getByText("stopped").first()).toBeVisible();
});

test.describe("a server that does not start", () => {
  test.use({
    setup: {
      ...LEGACY,
      servers: {
        missing: { command: "no-such-program-7461" },
        ending: { command: "/bin/sh", args: ["-c", "echo the harbour is closed >&2; exit 3"] },
      },
      running: [],
    },
  });

  test("shows the cause, and where the command was searched for", async ({ app }) => {
    await visit(app, "#/server/missing/overview");
    const main = app.getByRole("main");
    await main.getByRole("button", { name: "Start", exact: true }).click();
    await expect(main.getByText("The program was not found").first()).toBeVisible();
    await expect(main.getByText(/Searched \d+ folders/)).toBeVisible();
  });

  test("shows the last lines of its standard error", async ({ app }) => {
    await visit(app, "#/server/ending/overview");
    const main = app.getByRole("main");
    await main.getByRole("button", { name: "Start", exact: true }).click();
    await allow(app, "Allow once");
    await expect(main.getByText("It stopped before it was ready").first()).toBeVisible();
    await expect(main.getByText("the harbour is closed").first()).toBeVisible();
  });
});

test("removing a server deletes it from the settings and ends it", async ({ app, host }) => {
  await visit(app, "#/server/harbour/overview");
  await app.getByRole("main").getByRole("button", { name: "More" }).click();
  await app.getByRole("menuitem", { name: "Remove server" }).click();
  await app.getByRole("button", { name: "Remove server" }).click();
  await expect.poll(async () => (await host.snapshot()).servers.length, "the server should be removed").toBe(0);
  expect(commandOf(host.config, "harbour"), "the settings file should not contain the server").toBeUndefined();
});

test("an external edit of the settings file is applied, unless it is invalid", async ({ app, host }) => {
  const original = readFileSync(host.config, "utf8");
  const settings = JSON.parse(original) as { mcpServers: Record<string, unknown> };
  settings.mcpServers["second"] = { command: DEMO };
  writeFileSync(host.config, JSON.stringify(settings, null, 2));
  const servers = app.getByRole("navigation", { name: "Navigation" });
  await expect(servers.getByText("second"), "the new server should be shown without a restart").toBeVisible();
  writeFileSync(host.config, original.slice(0, original.length / 2));
  await expect(app.getByText("The settings file can't be used")).toBeVisible();
  await expect(app.getByText("Drawbridge uses the previous settings until you fix the file.")).toBeVisible();
  await expect(servers.getByText("second"), "the previous settings should stay in use").toBeVisible();
  writeFileSync(host.config, original);
  await expect(app.getByText("The settings file can't be used")).toBeHidden();
  await expect(servers.getByText("second")).toBeHidden();
});

test("roots are selected with the system dialog, and the server is notified", async ({ app, host }) => {
  const folder = realpathSync(mkdtempSync(join(host.folder, "shared-")));
  host.setDialogAnswer("pick-folder", folder);
  await visit(app, "#/server/harbour/roots");
  await app.getByRole("button", { name: "Add a folder…" }).click();
  await expect(app.getByRole("main").getByText(folder)).toBeVisible();
  const wasNotified = async () => {
    const { entries } = await host.activity("harbour");
    return entries.some((e) => e.sent && e.method === "notifications/roots/list_changed");
  };
  await expect.poll(wasNotified, "the running server should be notified of the change").toBe(true);
  await app.getByRole("button", { name: `Remove ${folder}` }).click();
  await expect(app.getByText("No folders are shared.")).toBeVisible();
});

test("the tabs stay in one row next to the open activity", async ({ app }) => {
  await visit(app, "#/server/harbour/overview");
  await app.getByRole("button", { name: "Activity of the current view" }).click();
  await expect(app.getByRole("complementary")).toBeVisible();
  await expect(app.getByRole("tab").first()).toBeVisible();
  const tops = await app.getByRole("tab").evaluateAll((tabs) => tabs.map((tab) => tab.getBoundingClientRect().top));
  expect(new Set(tops).size, "all tabs should be at the same height").toBe(1);
  const last = app.getByRole("tab", { name: "Settings", exact: true });
  await last.focus();
  await expect(last, "the last tab should be in view").toBeInViewport({ ratio: 1 });
});

test("Start passes the focus to Stop, and F focuses a form", async ({ app }) => {
  await visit(app, "#/server/harbour/overview");
  const main = app.getByRole("main");
  await main.getByRole("button", { name: "Stop" }).press("Enter");
  const start = main.getByRole("button", { name: "Start", exact: true });
  await expect(start, "Start should be focused after Stop").toBeFocused();
  await start.press("Enter");
  await expect(main.getByRole("button", { name: "Stop" }), "Stop should be focused after Start").toBeFocused();
  await expect(main.getByText("ready").first()).toBeVisible();
  await callTool(app, "ask_user");
  await allow(app, "Allow once");
  const frame = consentRequest(app);
  const decline = frame.getByRole("button", { name: "Decline" });
  await expect(decline).toBeFocused();
  await expect(decline, "keys have an effect once the request is armed").toHaveAttribute("aria-disabled", "false");
  await app.keyboard.press("f");
  const field = frame.getByRole("textbox").first();
  await expect(field, "the first field should be focused").toBeFocused();
  await expect(field, "the shortcut should not be typed into the field").not.toHaveValue(/f/);
  await app.keyboard.press("Escape");
});

test("servers are pinged once the network is back", async ({ app, host }) => {
  const pings = async () => {
    const page = (await host.call("read_activity", { server: "harbour", after: null, limit: 200 })) as { entries: { preview: string }[] };
    return page.entries.filter(({ preview }) => preview.includes("its network changed")).length;
  };
  const before = await pings();
  await app.evaluate(() => dispatchEvent(new Event("online")));
  await expect.poll(pings).toBe(before + 1);
});
