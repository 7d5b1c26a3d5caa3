// The consent queue.
import { DEMO, expect, LEGACY, consentRequest, waitUntilDeniable, test } from "./fixtures";

test.use({
  setup: {
    ...LEGACY,
    servers: {
      harbour: { command: DEMO, args: ["--era", "legacy"] },
      second: { command: DEMO, args: ["--era", "modern"] },
    },
    running: ["harbour", "second"],
  },
});

const addCall = (server: string, call: string) => ({ call, server, tool: "add", arguments: { a: 1, b: 2 } });

test("several requests are counted, shown one at a time and listed by server, and a flood is denied at once", async ({ app, host }) => {
  const calls = [
    host.call("call_tool", addCall("harbour", "1")),
    host.call("call_tool", addCall("second", "2")),
    ...["3", "4", "5", "6"].map((id) => host.call("call_tool", addCall("second", id))),
  ].map((call) => call.catch((error: Error) => error.message));

  await expect(app.getByRole("button", { name: /Approvals \(6\)/, includeHidden: true })).toBeVisible();
  const frame = consentRequest(app);
  await expect(frame).toContainText("1 of 6");
  await frame.getByRole("button", { name: "Next request" }).click();
  await expect(frame).toContainText("2 of 6");
  await frame.getByRole("button", { name: "Show all", exact: true }).click();
  const list = app.getByTestId("queue");
  await expect(list).toContainText("6 requests need your decision.");
  await expect(list, "the flood should be one row").toContainText("5 requests from this server");
  await list.getByRole("button", { name: "Deny all and mute second: later requests are denied, too" }).click();
  await expect(list).toContainText("1 request needs your decision.");
  await list.getByRole("button", { name: "Back to the request" }).click();
  await expect(frame, "the request of the other server should still be pending").toContainText("harbour");
  await frame.getByRole("button", { name: "Deny" }).click();
  const answers = await Promise.all(calls);
  for (const answer of answers) expect(String(answer), "each call should be refused").toContain("refused");
});

test("the next request is decided while the response to the previous decision is pending", async ({ app, host }) => {
  let arrive: () => void = () => undefined;
  const arrived = new Promise<void>((resolve) => (arrive = resolve));
  await app.route("**/api/decide_consent_request", async (route) => {
    const response = await route.fetch();
    await arrived;
    await route.fulfill({ response });
  });
  const call = (server: string) => host.call("call_tool", addCall(server, server)).catch((error: Error) => error.message);
  const frame = consentRequest(app);
  const denied = call("harbour");
  await expect(frame).toContainText("harbour");
  const later = call("second");
  await expect(frame).toContainText("1 of 2");
  await frame.getByRole("button", { name: "Deny" }).click();
  // The event that it was decided precedes the response.
  await expect(frame, "the next request should be shown").not.toContainText("1 of 2");
  await waitUntilDeniable(app);
  await app.keyboard.press("d");
  expect(String(await denied), "the button should deny the first call").toContain("refused");
  expect(String(await later), "the key should deny the second call").toContain("refused");
  arrive();
  await expect(frame).toBeHidden();
});

test("a request that is put aside waits until it is opened", async ({ app, host }) => {
  const call = (server: string) => host.call("call_tool", addCall(server, server)).catch((error: Error) => error.message);
  const frame = consentRequest(app);
  const first = call("harbour");
  await expect(frame).toContainText("harbour");
  await waitUntilDeniable(app);
  await app.keyboard.press("Escape");
  await expect(frame, "Escape should put the request aside").toBeHidden();
  const approvals = app.getByRole("button", { name: /Approvals \(1\)/ });
  await expect(approvals, "the request should stay pending").toBeVisible();
  const second = call("second");
  await expect(frame, "another request should be shown").toContainText("second");
  await waitUntilDeniable(app);
  await frame.getByRole("button", { name: "Deny" }).click();
  expect(String(await second)).toContain("refused");
  await expect(frame, "the first request should not be shown by itself").toBeHidden();
  await approvals.click();
  await expect(frame, "the only request should be opened without a list").toContainText("harbour");
  await waitUntilDeniable(app);
  await frame.getByRole("button", { name: "Decide later" }).click();
  await expect(frame, "the button should put the request aside again").toBeHidden();
  expect((await host.snapshot()).consentRequests.length, "nothing should be decided").toBe(1);
  await host.call("cancel_call", { call: "harbour" });
  expect(String(await first)).toContain("cancelled");
});

test("keys meant for one request deny no other, and servers take turns", async ({ app, host }) => {
  const call = (server: string, id: string) => host.call("call_tool", addCall(server, id)).catch((error: Error) => error.message);
  const frame = consentRequest(app);
  const open = async () => (await host.snapshot()).consentRequests.map(({ server }) => server).sort();
  const calls = [call("harbour", "1")];
  await expect(frame).toContainText("harbour");
  calls.push(call("harbour", "2"), call("harbour", "3"));
  await expect(frame).toContainText("1 of 3");
  calls.push(call("second", "4"));
  await expect(frame).toContainText("1 of 4");
  await frame.getByRole("button", { name: "Deny" }).dblclick();
  await expect(frame.getByRole("heading", { level: 2 }), "the request of the other server should be next").toContainText("second");
  await app.keyboard.press("Space");
  await app.keyboard.press("Escape");
  expect(await open(), "neither the second click nor the keys should deny a request").toEqual(["harbour", "harbour", "second"]);
  await frame.getByRole("button", { name: "Deny" }).click();
  await expect(frame.getByRole("heading", { level: 2 }), "the next request of the first server should follow").toContainText("harbour");
  for (const left of [1, 0]) {
    await frame.getByRole("button", { name: "Deny" }).click();
    await expect.poll(async () => (await open()).length, "one click should deny one request").toBe(left);
  }
  for (const answer of await Promise.all(calls)) expect(String(answer), "each call should be refused").toContain("refused");
});

test("a request that changes or closes while it is read sends nothing", async ({ app, host }) => {
  const call = host.call("call_tool", addCall("harbour", "gone")).catch((error: Error) => error.message);
  await expect(consentRequest(app)).toBeVisible();
  await host.call("cancel_call", { call: "gone" });
  await expect(consentRequest(app), "the request should close together with its call").toBeHidden();
  expect(String(await call)).toContain("cancelled");
});
