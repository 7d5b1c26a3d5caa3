import { screen, within } from "@testing-library/svelte";
import { tick } from "svelte";
import { describe, expect, it } from "vitest";

import type { ConsentRequestBody, FormField } from "$lib/api/generated";

import { clientIdBody, consentRequest, formBody } from "./fixtures";
import {
  accessibilityProblems,
  button,
  clickElement,
  host,
  installFakeHostForEachTest,
  moveToRequest,
  pressKey,
  renderRequests,
  sentDecisions,
  typeText,
  waitUntilArmed,
} from "./test-harness.svelte";

installFakeHostForEachTest();

describe("a form", () => {
  it("form: shows defaults and problems in the language of the app, and sends the values", async () => {
    host.handlers.validate_form = (request: { content: Record<string, unknown> }) => ({
      problems: request.content.name ? [] : [{ field: "name", problem: "required", limit: null }],
    });
    renderRequests(consentRequest(formBody));
    await waitUntilArmed();
    expect(
      screen.getByLabelText<HTMLInputElement>(/^age/).value,
      "the default should be filled in",
    ).toBe("30");
    expect(
      screen.getByLabelText("Your name (required)"),
      "a required field should be labeled by the app",
    ).toBeInTheDocument();
    expect(
      screen.getByText(/looks like a secret\. Servers must not/),
      "X21: a secret should cause a warning",
    ).toBeInTheDocument();
    await clickElement(button("Accept and send"));
    expect(sentDecisions(), "an invalid form should not be sent").toEqual([]);
    expect(screen.getByText("Fill this in."), "the problem should be shown").toBeInTheDocument();
    await typeText(screen.getByLabelText("Your name (required)"), "Ann");
    await clickElement(screen.getByLabelText("Red"));
    await waitUntilArmed();
    await clickElement(button("Accept and send"));
    expect(sentDecisions(), "the content should be sent").toMatchObject([
      {
        answer: {
          action: "submit",
          content: { name: "Ann", age: 30, news: true, size: "m", colours: ["r"] },
        },
      },
    ]);
  });

  it("E15: Ctrl+Enter sends a form from a field, or focuses the first invalid field", async () => {
    const problems = [{ field: "name", problem: "required", limit: null }];
    host.handlers.decide_consent_request = () => {
      throw { code: "invalid", message: "not filled in", data: { problems } };
    };
    renderRequests(consentRequest(formBody));
    await waitUntilArmed();
    const age = screen.getByLabelText(/^age/);
    age.focus();
    await pressKey("Enter", age);
    expect(sentDecisions(), "Enter alone should send nothing").toEqual([]);
    await pressKey("Enter", age, { ctrlKey: true });
    await tick();
    const name = screen.getByLabelText("Your name (required)");
    expect(name, "the invalid field should be focused").toHaveFocus();
    expect(screen.getByText("Fill this in.")).toBeInTheDocument();
    host.handlers.decide_consent_request = () => ({});
    await typeText(name, "Ann");
    await waitUntilArmed();
    await pressKey("Enter", name, { ctrlKey: true });
    expect(sentDecisions()[1], "the shortcut should send the form").toMatchObject({
      answer: { action: "submit", content: { name: "Ann" } },
    });
  });

  it("form: no letter decides, as it may begin an entry", async () => {
    const { set } = renderRequests(consentRequest(formBody));
    await waitUntilArmed();
    expect(
      screen.getByText("F goes to the first field, Ctrl+Enter accepts, Esc decides later"),
    ).toBeVisible();
    await moveToRequest();
    for (const key of ["D", "d", "A", "a"]) await pressKey(key);
    expect(sentDecisions(), "a name should neither decline nor accept the form").toEqual([]);
    set(consentRequest(clientIdBody, { id: "q2" }));
    await waitUntilArmed();
    await moveToRequest();
    await pressKey("d");
    expect(sentDecisions(), "a client id should decide nothing").toEqual([]);
    await typeText(screen.getByLabelText("Client ID"), "mine");
    await waitUntilArmed();
    await pressKey("Enter", document.activeElement ?? document.body, { ctrlKey: true });
    expect(sentDecisions(), "Ctrl+Enter should send the client id").toMatchObject([
      { answer: { action: "identify", client: { clientId: "mine" } } },
    ]);
  });

  it("E15: the description of a field precedes the field, and is its accessible description", () => {
    renderRequests(consentRequest(formBody));
    const field = screen.getByLabelText(/^mail/);
    const about = screen.getByText("Where to write to");
    expect(field).toHaveAccessibleDescription(/Where to write to/);
    expect(about.compareDocumentPosition(field)).toBe(Node.DOCUMENT_POSITION_FOLLOWING);
  });

  it("form: accept, decline and cancel are distinct decisions", async () => {
    const { set } = renderRequests(consentRequest(formBody));
    // Required fields are still empty.
    await waitUntilArmed();
    expect(button("Decline"), "both buttons should be explained").toHaveAccessibleDescription(
      "Decline tells the server that you refuse, Cancel that you did not decide.",
    );
    expect(button("Cancel")).toHaveAccessibleDescription(/you did not decide/);
    await clickElement(button("Decline"));
    set(consentRequest(formBody, { id: "q2" }));
    await waitUntilArmed();
    await clickElement(button("Cancel"));
    expect(sentDecisions(), "[elicit-decline-anytime]: both should be possible").toMatchObject([
      { answer: { action: "deny" } },
      { answer: { action: "cancel" } },
    ]);
  });

  it("form: shows hidden parts of default values below the field, to be expanded", async () => {
    const [name] = (formBody as Extract<ConsentRequestBody, { kind: "form" }>).fields as [
      FormField,
    ];
    const mail = { ...name, default: `me@x.test${" ".repeat(2_000)}<rm -rf ~>`, required: false };
    const { controller } = renderRequests(
      consentRequest({ ...formBody, fields: [mail] } as ConsentRequestBody),
    );
    await waitUntilArmed();
    expect(screen.getByText("␣×2000"), "the blanks should be counted").toBeInTheDocument();
    expect(screen.getByText(/<rm -rf ~>/), "the hidden text should be visible").toBeInTheDocument();
    expect(controller.blocker, "the blanks should block the approval").toEqual({
      is: "unread",
      hidden: 2_000,
    });
    await clickElement(button("Accept and send"));
    expect(sentDecisions(), "nothing should be sent before everything was read").toEqual([]);
    await typeText(screen.getByLabelText(/^Your name/), "a\u200bb");
    expect(screen.getByText("U+200B"), "a pasted character should be named").toBeInTheDocument();
    expect(controller.blocker, "the replaced value should not block the approval").toBeNull();
    await typeText(screen.getByLabelText(/^Your name/), String(mail.default));
    await clickElement(button("Show all of Your name"));
    expect(controller.blocker, "the expanded value should not block the approval").toBeNull();
    expect(await accessibilityProblems(), "axe should find no violations").toEqual([]);
  });

  it("form: long options are distinguishable, and their values are shown", async () => {
    const same =
      "Keep everything as it is now, and do not change any of the settings of this account";
    const [name] = (formBody as Extract<ConsentRequestBody, { kind: "form" }>).fields as [
      FormField,
    ];
    const options = [
      { value: "keep", title: `${same}.` },
      { value: "drop", title: `${same}, but delete it.` },
    ];
    const filler = ["1", "2", "3", "4"].map((value) => ({ value, title: value }));
    const choice = (id: string, title: string, of: object[]) => ({
      ...{ ...name, name: id, title, default: null, required: false },
      kind: { type: "choice", options: of },
    });
    const fields = [
      choice("short", "Few", options),
      choice("long", "Many", [...options, ...filler]),
      choice("plain", "Plain", [
        { value: "x", title: "An x" },
        ...filler,
        { value: "5", title: "5" },
      ]),
      { ...name, name: "delete_all", title: "w".repeat(200), default: null },
    ];
    renderRequests(consentRequest({ ...formBody, fields } as ConsentRequestBody));
    const few = within(screen.getByRole("group", { name: /^Few/ }));
    expect(
      few.getByRole("radio", { name: `${same}, but delete it.` }),
      "the label should be shown completely",
    ).toHaveAccessibleDescription("drop");
    expect(
      within(screen.getByRole("group", { name: /^Many/ })).getAllByRole("radio").length,
      "options with long labels should be radio buttons",
    ).toBe(7);
    expect(
      screen.getByRole("option", { name: "An x (x)" }),
      "the value should be shown in a list",
    ).toBeInTheDocument();
    expect(screen.getByText("delete_all"), "the sent value should be shown").toBeInTheDocument();
    expect(screen.getByText("w".repeat(200)), "long labels should be complete").toBeInTheDocument();
    expect(await accessibilityProblems(), "axe should find no violations").toEqual([]);
  });

  it("form: a form that can't be shown can only be declined or cancelled", async () => {
    renderRequests(
      consentRequest({ ...formBody, unsupported: "nested objects" } as ConsentRequestBody),
    );
    await waitUntilArmed();
    await moveToRequest();
    await pressKey("a");
    expect(screen.queryByRole("button", { name: /Accept/ }), "no button should accept").toBeNull();
    expect(sentDecisions(), "nothing should be sent").toEqual([]);
  });
});
