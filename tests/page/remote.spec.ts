// Servers by URL: pasted, approved, connected, and reconnected after an outage.
import { allow, axeViolations, callTool, DEMO, expect, FIRST_START, consentRequest, test, visit } from "./fixtures";
import { RemoteServer } from "./remote-server";

let remote: RemoteServer | null = null;

test.use({ setup: { ...FIRST_START, servers: {} } });
test.afterEach(async () => {
  await remote?.stop();
  remote = null;
});

const ERAS = [
  { era: "modern", revision: "2026-07-28", how: /server\/discover/ },
  { era: "legacy", revision: "2025-11-25", how: /initialize/ },
] as const;

for (const { era, revision, how } of ERAS) {
  test(`${era}: a pasted URL is sufficient, and the detected connection is shown`, async ({ app }) => {
    remote = await RemoteServer.start(era);
    await visit(app, "#/add-server");
    await app.getByRole("textbox", { name: /^URL, command/ }).fill(remote.url);
    await expect(app.getByRole("textbox", { name: "Address" })).toHaveValue(remote.url);
    const name = app.getByRole("textbox", { name: "Name", exact: true });
    await name.fill("harbour");
    await app.getByRole("button", { name: "Add header" }).click();
    await app.getByRole("textbox", { name: "Name of header 1" }).fill("X-Harbour");
    await app.getByLabel("Value of X-Harbour").fill("not to be seen");
    await app.getByRole("checkbox", { name: "X-Harbour is secret" }).uncheck();
    await app.getByRole("button", { name: "Add 1 server" }).click();

    await app.getByRole("main").getByRole("button", { name: "Start", exact: true }).click();
    const frame = consentRequest(app);
    await expect(frame.locator(".url"), "the request should show the whole URL").toHaveText(remote.url);
    await expect(frame, "the request should name the header").toContainText("X-Harbour");
    await expect(frame, "the request should not show the value of the header").not.toContainText("not to be seen");
    expect(await axeViolations(app), "axe should find no violations").toEqual([]);
    await allow(app, "Always allow this address");

    const main = app.getByRole("main");
    await expect(main.getByText("ready").first()).toBeVisible();
    await expect(main.getByText("Streamable HTTP"), "the overview should show the transport").toBeVisible();
    await expect(main.getByText(revision).first(), "the overview should show the protocol revision").toBeVisible();
    await expect(main.getByText(how).first(), "the overview should show how the revision was detected").toBeVisible();
    await expect(main.getByText("not to be seen"), "the overview should not show the value of the header").toHaveCount(0);
    expect(await axeViolations(app), "axe should find no violations").toEqual([]);
  });
}

test("E31: a call to an unreachable server shows that, and the next one succeeds once it is back", async ({ app, host }) => {
  remote = await RemoteServer.start("legacy");
  await host.call("add_server", {
    name: "harbour",
    config: { type: "http", url: remote.url, headers: [], kind: null, revision: null },
  });
  void host.call("start_server", { server: "harbour" });
  await host.answerNext("connect_server", { action: "allow", scope: "always" });
  await visit(app, "#/server/harbour/tools/lighthouse");
  await expect(app.getByRole("button", { name: "Call", exact: true }), "the tools should be listed").toBeVisible();
  await remote.stop();
  await callTool(app, "lighthouse");
  await allow(app, "Allow once");
  const result = app.getByTestId("tool-result");
  await expect(result, "the call should fail").toHaveAttribute("data-state", "failed");
  await expect(result.getByRole("alert"), "the cause should be shown").toBeVisible();
  await remote.start();
  await app.getByRole("button", { name: "Call", exact: true }).click();
  await allow(app, "Allow once");
  await expect(result, "the call should succeed in a new session without another start").toHaveAttribute("data-state", "done");
});

test("a local server that crashes restarts without a consent request", async ({ app, host }) => {
  await host.call("add_server", {
    name: "harbour",
    config: { type: "stdio", command: DEMO, args: ["--era", "legacy"], env: {}, cwd: null, revision: null },
  });
  await host.startApproved("harbour");
  const pid = async () => (await host.snapshot()).servers[0]?.pid ?? null;
  const before = await pid();
  await visit(app, "#/server/harbour/overview");
  process.kill(before!, "SIGKILL");
  await expect.poll(async () => (await pid()) ?? before, { message: "the server should run as another process" }).not.toBe(before);
  await expect(app.getByRole("main").getByText("ready").first()).toBeVisible();
  await expect(consentRequest(app), "an approved command should require no consent").toBeHidden();
});

test("E19: a crashed server that was allowed once is not restarted without consent", async ({ app, host }) => {
  await host.call("add_server", {
    name: "harbour",
    config: { type: "stdio", command: DEMO, args: ["--era", "legacy"], env: {}, cwd: null, revision: null },
  });
  void host.call("start_server", { server: "harbour" });
  await host.answerNext("start_server", { action: "allow", scope: "once" });
  const server = async () => (await host.snapshot()).servers[0];
  await expect.poll(async () => (await server())?.state.is, { message: "the server should run" }).toBe("ready");
  await visit(app, "#/server/harbour/overview");
  process.kill((await server())!.pid!, "SIGKILL");
  await host.consentRequest("start_server");
  expect((await server())?.pid, "no process should be started").toBeNull();
  const waiting = app.getByRole("button", { name: /Approvals \(1\)/ });
  await expect(waiting, "the request should be counted in the title bar").toBeVisible();
  await expect(consentRequest(app), "the request should not interrupt the user").toBeHidden();
  await waiting.click();
  await expect(consentRequest(app), "the request should state why it starts again").toContainText(/ended/);
  await allow(app, "Allow once");
  await expect.poll(async () => (await server())?.pid ?? null, { message: "the server should run once it is allowed" }).not.toBeNull();
});

test("a call that runs as a task shows its state, and ends like any other", async ({ app, host }) => {
  remote = await RemoteServer.start("modern");
  await host.call("add_server", {
    name: "harbour",
    config: { type: "http", url: remote.url, headers: [], kind: null, revision: null },
  });
  void host.call("start_server", { server: "harbour" });
  await host.answerNext("connect_server", { action: "allow", scope: "always" });
  await callTool(app, "do_later");
  await allow(app, "Allow once");
  const result = app.getByTestId("tool-result");
  await expect(result.getByRole("group", { name: "Task" }), "the task should be shown as running").toContainText("Running");
  await expect(result, "the call should complete").toHaveAttribute("data-state", "done", { timeout: 20_000 });
});
