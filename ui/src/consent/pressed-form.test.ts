import { fireEvent, screen } from "@testing-library/svelte";
import { expect, it, vi } from "vitest";

import { consentRequest, formBody } from "./fixtures";
import { CHECK_DEBOUNCE_MS } from "./form-check.svelte";
import {
  button,
  clickElement,
  host,
  installFakeHostForEachTest,
  renderRequests,
  typeText,
  waitUntilArmed,
} from "./test-harness.svelte";

installFakeHostForEachTest();

/** Renders a form whose required field is reported as missing, and presses the pointer on another field. */
async function renderPressedForm(): Promise<HTMLElement> {
  const problems = [{ field: "name", problem: "required", limit: null }];
  host.handlers.decide_consent_request = () => {
    throw { code: "invalid", message: "not filled in", data: { problems } };
  };
  renderRequests(consentRequest(formBody));
  await waitUntilArmed();
  await clickElement(button("Accept and send"));
  expect(screen.getByText("Fill this in."), "the problem should be shown").toBeInTheDocument();
  const age = screen.getByLabelText(/^age/);
  await fireEvent.pointerDown(age);
  await typeText(screen.getByLabelText("Your name (required)"), "Ann");
  await vi.advanceTimersByTimeAsync(CHECK_DEBOUNCE_MS);
  const checked = host.sent.map(([command]) => command);
  expect(checked, "the form should be checked").toContain("validate_form");
  return age;
}

it("keeps the texts of problems in place while a pointer is pressed", async () => {
  const age = await renderPressedForm();
  expect(screen.getByText("Fill this in."), "nothing should move").toBeInTheDocument();
  await fireEvent.pointerUp(age);
  await vi.advanceTimersByTimeAsync(1);
  expect(screen.queryByText("Fill this in."), "the solved problem should go").toBeNull();
});

it("updates the texts at the next key if the release of the pointer was not reported", async () => {
  const age = await renderPressedForm();
  await fireEvent.keyDown(age, { key: "Tab" });
  await vi.advanceTimersByTimeAsync(1);
  expect(screen.queryByText("Fill this in."), "the solved problem should go").toBeNull();
});
