import { describe, expect, it } from "vitest";

import { isHeldActivation, consentShortcut } from "./consent-shortcuts";

function key(name: string, on: string, more: KeyboardEventInit = {}): KeyboardEvent {
  document.body.innerHTML = on;
  const event = new KeyboardEvent("keydown", { key: name, bubbles: true, ...more });
  document.body.firstElementChild?.dispatchEvent(event);
  return event;
}

describe("shortcuts of a consent request", () => {
  it("reads A and D in either case", () => {
    expect(consentShortcut(key("a", "<button></button>")), "A allows").toBe("allow");
    expect(consentShortcut(key("D", "<button></button>")), "D denies").toBe("deny");
    expect(consentShortcut(key("f", "<button></button>")), "F goes to the fields").toBe("fields");
    expect(consentShortcut(key("x", "<button></button>")), "no other key does").toBeNull();
  });

  it("leaves typing, held keys and other shortcuts alone", () => {
    expect(consentShortcut(key("a", "<textarea></textarea>")), "typing in a field").toBeNull();
    expect(consentShortcut(key("a", '<div role="menu"></div>')), "choosing in a menu").toBeNull();
    expect(
      consentShortcut(key("a", "<button></button>", { repeat: true })),
      "a held key",
    ).toBeNull();
    expect(
      consentShortcut(key("a", "<button></button>", { ctrlKey: true })),
      "select all",
    ).toBeNull();
  });

  it("sends by Ctrl+Enter and Command+Enter, also from a field, and by no other Enter", () => {
    const field = "<input />";
    expect(consentShortcut(key("Enter", field, { ctrlKey: true }))).toBe("send");
    expect(consentShortcut(key("Enter", field, { metaKey: true }))).toBe("send");
    expect(consentShortcut(key("Enter", field))).toBeNull();
    expect(
      consentShortcut(key("Enter", field, { ctrlKey: true, repeat: true })),
      "held",
    ).toBeNull();
    expect(consentShortcut(key("Enter", field, { ctrlKey: true, shiftKey: true }))).toBeNull();
  });

  it("knows a held Enter on a button from one in a field", () => {
    expect(
      isHeldActivation(key("Enter", "<button></button>", { repeat: true })),
      "on a button",
    ).toBe(true);
    expect(
      isHeldActivation(key("Enter", "<textarea></textarea>", { repeat: true })),
      "in a text",
    ).toBe(false);
    expect(isHeldActivation(key("Enter", "<button></button>")), "pressed once").toBe(false);
  });
});
