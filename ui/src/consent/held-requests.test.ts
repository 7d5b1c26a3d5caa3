import { screen } from "@testing-library/svelte";
import { tick } from "svelte";
import { afterEach, beforeEach, expect, it, vi } from "vitest";

import { ARMING_DELAY_MS } from "./arming.svelte";
import {
  consentRequest,
  samplingBodyWithModel,
  samplingResponseBody,
  toolBody,
  urlBody,
} from "./fixtures";
import { FOCUS_RETURN_MS, returnFocus } from "./focus-return";
import {
  button,
  clickElement,
  installFakeHostForEachTest,
  moveToRequest,
  pressKey,
  renderRequests,
  sentDecisions,
  waitUntilArmed,
} from "./test-harness.svelte";

installFakeHostForEachTest();

let field: HTMLTextAreaElement | HTMLInputElement;
function addField(name: "textarea" | "input") {
  field = document.createElement(name);
  document.body.append(field);
  field.focus();
  return field;
}

beforeEach(() => addField("textarea"));
afterEach(() => field.remove());

const ofUser = { by: "user", conversation: null } as const;
const call = (changes = {}) => consentRequest(toolBody({ path: "/x" }), changes);

it.each(["textarea", "input"] as const)(
  "waits while the user is in a %s, and F6 opens it",
  async (kind) => {
    field.remove();
    addField(kind);
    const { controller, set } = renderRequests();
    await pressKey("n", field);
    set(call());
    await vi.advanceTimersByTimeAsync(10 * ARMING_DELAY_MS);
    expect(screen.queryByRole("dialog"), "no dialog should open").toBeNull();
    expect(document.activeElement, "the field should keep the focus").toBe(field);
    expect(controller.queue.held.map(({ id }) => id)).toEqual(["q1"]);
    expect(
      screen.getByText("files waits for your approval"),
      "it should be announced",
    ).toBeInTheDocument();
    await pressKey("a", field);
    expect(sentDecisions(), "a typed letter should decide nothing").toEqual([]);
    await pressKey("F6", field);
    await waitUntilArmed();
    expect(controller.queue.held).toEqual([]);
    await pressKey("a");
    expect(
      sentDecisions(),
      "a request that the user opened should be decided by keys",
    ).toMatchObject([{ id: "q1", answer: { action: "allow" } }]);
  },
);

it("waits until it is opened, also after the field is left and when others arrive", async () => {
  const { controller, set } = renderRequests();
  set(call());
  await tick();
  field.blur();
  set(call(), consentRequest(urlBody, { id: "q2" }));
  await tick();
  expect(controller.request?.id, "the request that arrived later should open").toBe("q2");
  set(call());
  await tick();
  expect(controller.request, "the held request should not open by itself").toBeNull();
  controller.show("q1");
  expect(controller.request?.id).toBe("q1");
});

it("is decided by no letter unless the user has moved to it", async () => {
  field.blur();
  renderRequests(call());
  await waitUntilArmed();
  expect(screen.getByText(/^Tab or F6 goes to the request/)).toBeVisible();
  for (const key of ["a", "d"]) await pressKey(key);
  expect(sentDecisions(), "a letter should decide nothing").toEqual([]);
  await moveToRequest();
  expect(screen.getByText(/^A allows, D denies/)).toBeVisible();
  await pressKey("d");
  expect(sentDecisions()).toMatchObject([{ id: "q1", answer: { action: "deny" } }]);
});

it("is decided by a letter after a click in it, but the next one is not", async () => {
  field.blur();
  const { set } = renderRequests(call());
  await clickElement(screen.getByRole("heading", { level: 2 }));
  await waitUntilArmed();
  await pressKey("a");
  expect(sentDecisions()).toMatchObject([{ id: "q1" }]);
  set(call({ id: "q2" }));
  await waitUntilArmed();
  await pressKey("a");
  expect(sentDecisions(), "the next request appeared by itself").toHaveLength(1);
});

it("opens over a field and is decided by keys if the user asked for it by Enter", async () => {
  field.remove();
  addField("input");
  const { set } = renderRequests();
  await pressKey("Enter", field);
  set(call({ origin: ofUser }));
  await waitUntilArmed();
  expect(button("Deny")).toHaveFocus();
  await pressKey("a");
  expect(sentDecisions()).toMatchObject([{ id: "q1", answer: { action: "allow" } }]);
});

it.each([
  ["typed on", "input", ["Enter", "x"], ofUser],
  ["pressed Enter in a message", "textarea", ["Enter"], ofUser],
  ["did not ask for it", "input", ["Enter"], { by: "server" }],
] as const)("waits if the user %s", async (_, kind, keys, origin) => {
  field.remove();
  addField(kind);
  const { set } = renderRequests();
  for (const key of keys) await pressKey(key, field);
  set(call({ origin }));
  await tick();
  expect(screen.queryByRole("dialog")).toBeNull();
});

it.each([
  "<select><option>1</option></select>",
  "<input type='range'>",
  "<input type='file'>",
  "<input readonly value='x'>",
])("opens while a field has the focus in which no text can be typed: %s", async (html) => {
  field.remove();
  const place = document.body.appendChild(document.createElement("div"));
  place.innerHTML = html;
  (place.firstElementChild as HTMLElement).focus();
  expect(document.activeElement).toBe(place.firstElementChild);
  const { set } = renderRequests();
  set(call());
  await tick();
  expect(screen.getByRole("dialog")).toBeInTheDocument();
  place.remove();
});

it("does not wait for an approval while the model responds", async () => {
  const { controller, set } = renderRequests();
  const run = { is: "running", text: "Pa", thinking: false } as const;
  set(consentRequest(samplingBodyWithModel({ step: "running", run })));
  await tick();
  expect(screen.queryByRole("dialog"), "no dialog should cover the field").toBeNull();
  expect(controller.queue.held).toEqual([]);
  set(consentRequest(samplingResponseBody("Paris."), { hash: "h2" }));
  await tick();
  expect(controller.queue.held, "the response should wait").toHaveLength(1);
});

it("is not moved to by a click or a key in the list of all requests", async () => {
  field.blur();
  const { controller } = renderRequests(call());
  controller.queue.isListOpen = true;
  await tick();
  await clickElement(screen.getByRole("heading", { level: 2 }));
  await moveToRequest(screen.getByRole("button", { name: /^Back/ }));
  controller.queue.isListOpen = false;
  await tick();
  expect(controller.isAttended).toBe(false);
});

it("is not moved to by a Tab that was pressed before it opened", async () => {
  field.blur();
  const { controller, set } = renderRequests();
  const tab = { key: "Tab", bubbles: true };
  document.body.dispatchEvent(new KeyboardEvent("keydown", tab));
  set(call());
  await waitUntilArmed();
  expect(button("Deny")).toHaveFocus();
  button("Deny").dispatchEvent(new KeyboardEvent("keyup", tab));
  expect(controller.isAttended, "the key was meant for something else").toBe(false);
  await moveToRequest();
  expect(controller.isAttended).toBe(true);
});

it.each([
  ["clicked into the field", () => clickElement(field)],
  [
    "clicked a button that moves the focus into the field",
    async () => {
      const opens = document.body.appendChild(document.createElement("button"));
      await clickElement(opens);
      opens.remove();
      field.focus();
    },
  ],
])("waits if the user %s, and a letter decides nothing", async (_, act) => {
  const { controller, set } = renderRequests();
  await act();
  set(call({ origin: ofUser }));
  await waitUntilArmed();
  expect(screen.queryByRole("dialog")).toBeNull();
  expect(controller.queue.held).toHaveLength(1);
  await pressKey("a", field);
  expect(sentDecisions()).toEqual([]);
});

it("is decided by no letter if the user only clicked into the page", async () => {
  field.blur();
  const { set } = renderRequests();
  await clickElement(document.body);
  set(call({ origin: ofUser }));
  await waitUntilArmed();
  expect(screen.getByRole("dialog")).toBeInTheDocument();
  await pressKey("a");
  expect(sentDecisions()).toEqual([]);
});

it("is decided by a letter after a click on a button that asked for it", async () => {
  field.blur();
  const { set } = renderRequests();
  const asks = document.body.appendChild(document.createElement("button"));
  await clickElement(asks);
  asks.remove();
  set(call({ origin: ofUser }));
  await waitUntilArmed();
  await pressKey("a");
  expect(sentDecisions()).toMatchObject([{ id: "q1" }]);
});

it("opens if an empty field has the focus only since the previous request was removed", async () => {
  const { set } = renderRequests();
  returnFocus(field);
  set(call());
  await tick();
  expect(screen.getByRole("dialog")).toBeInTheDocument();
  set();
  await tick();
  returnFocus(field);
  await vi.advanceTimersByTimeAsync(FOCUS_RETURN_MS + 1);
  set(call({ id: "q2" }));
  await tick();
  expect(screen.queryByTestId("consent-request"), "the user may type at any moment").toBeNull();
});
