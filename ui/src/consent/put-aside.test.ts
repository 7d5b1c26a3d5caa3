// Putting a consent request aside, to decide it later.
import { screen } from "@testing-library/svelte";
import { tick } from "svelte";
import { expect, test, vi } from "vitest";

import {
  consentRequest,
  formBody,
  rootsBody,
  samplingBodyWithModel,
  samplingResponseBody,
  toolBody,
  urlBody,
} from "./fixtures";
import {
  sentDecisions,
  waitUntilArmed,
  button,
  clickElement,
  host,
  moveToRequest,
  installFakeHostForEachTest,
  pressKey,
  renderRequests,
} from "./test-harness.svelte";

installFakeHostForEachTest();

test.each([
  ["Escape", () => pressKey("Escape")],
  ["Decide later", () => clickElement(button("Decide later"))],
])("is put aside by %s, which decides nothing", async (_, putAside) => {
  const one = consentRequest(toolBody({ path: "/x" }));
  const { controller, set } = renderRequests(one);
  await putAside();
  expect(controller.request?.id, "the request should stay while it is arming").toBe("q1");
  await waitUntilArmed();
  await putAside();
  await vi.advanceTimersByTimeAsync(100);
  expect(screen.queryByRole("dialog"), "the dialog should close").toBeNull();
  expect(controller.pending, "the request should stay pending").toEqual([one]);
  const two = consentRequest(urlBody, { id: "q2" });
  set(one, two);
  await tick();
  expect(controller.request?.id, "another request should be shown").toBe("q2");
  set(one);
  await waitUntilArmed();
  expect(screen.queryByRole("dialog"), "the request should not be shown by itself").toBeNull();
  controller.show("q1");
  await waitUntilArmed();
  expect(sentDecisions(), "no decision should have been sent").toEqual([]);
  await clickElement(button("Allow once"));
  expect(sentDecisions(), "the opened request should be decided as usual").toMatchObject([
    { id: "q1", answer: { action: "allow" } },
  ]);
});

test("each key press puts one request aside, and the next one is shown", async () => {
  const two = consentRequest(rootsBody, { id: "q2" });
  const { controller } = renderRequests(consentRequest(urlBody), two);
  await waitUntilArmed();
  await pressKey("Escape");
  await pressKey("Escape");
  expect(controller.request?.id, "the second request should not be armed yet").toBe("q2");
  await waitUntilArmed();
  await pressKey("Escape", undefined, { repeat: true });
  expect(controller.request?.id, "a held key should have no effect").toBe("q2");
  await pressKey("Escape");
  expect(controller.request).toBeNull();
  expect(sentDecisions()).toEqual([]);
});

test.each([
  ["during a composition", { isComposing: true }],
  ["as WebKit sends it after one", { keyCode: 229 }],
])("a form stays at Escape of an input method, %s", async (_, more) => {
  const { controller } = renderRequests(consentRequest(formBody));
  await waitUntilArmed();
  const [field] = screen.getAllByRole("textbox");
  await pressKey("Escape", field, more);
  expect(controller.request?.id).toBe("q1");
});

test("a key that was pressed before arming puts nothing aside, although it is handled later", async () => {
  const { controller } = renderRequests(consentRequest(urlBody));
  const pressed = performance.now();
  await waitUntilArmed();
  const key = new KeyboardEvent("keydown", { key: "Escape", bubbles: true, cancelable: true });
  Object.defineProperty(key, "timeStamp", { value: pressed });
  document.body.dispatchEvent(key);
  await vi.advanceTimersByTimeAsync(0);
  expect(controller.request?.id).toBe("q1");
});

test.each([true, false])(
  "the response to a model's request was not moved to, put aside before: %s",
  async (aside) => {
    const { controller, set } = renderRequests(consentRequest(samplingBodyWithModel()));
    await moveToRequest();
    expect(controller.isAttended).toBe(true);
    const run = { is: "running", text: "Pa", thinking: false } as const;
    set(consentRequest(samplingBodyWithModel({ step: "running", run }), { hash: "h2" }));
    await waitUntilArmed();
    if (aside) {
      await pressKey("Escape");
      expect(controller.request, "it should be put aside").toBeNull();
    }
    set(consentRequest(samplingResponseBody("Paris."), { hash: "h3" }));
    await waitUntilArmed();
    expect(controller.request?.hash, "the response should be shown").toBe("h3");
    expect(controller.isAttended).toBe(false);
    for (const key of ["a", "d"]) await pressKey(key);
    expect(sentDecisions(), "a letter should decide nothing").toEqual([]);
  },
);

test("a request that was put aside is moved to anew once it is opened again", async () => {
  const { controller } = renderRequests(consentRequest(urlBody));
  await moveToRequest();
  await waitUntilArmed();
  await pressKey("Escape");
  controller.show("q1");
  expect(controller.isAttended, "it was opened").toBe(true);
  controller.queue.closeOpened();
  expect(controller.isAttended, "it was not moved to since").toBe(false);
});

test("a request whose decision is being sent stays until the response", async () => {
  host.handlers.decide_consent_request = () => new Promise(() => undefined);
  const { controller } = renderRequests(consentRequest(toolBody({ path: "/x" })));
  await waitUntilArmed();
  await clickElement(button("Allow once"));
  await pressKey("Escape");
  expect(controller.request?.id).toBe("q1");
});
