import { describe, expect, it } from "vitest";

import { isHeldActivation, shortcut } from "./consent-shortcuts";

function key(name: string, on: string, more: KeyboardEventInit = {}): KeyboardEvent {
  document.body.innerHTML = on;
  const event = new KeyboardEvent("keydown", { key: name, bubbles: true, ...more });
  document.body.firstElementChild?.dispatchEvent(event);
  return event;
}

describe("keys of a question", () => {
  it("reads A and D in either case", () => {
    expect(shortcut(key("a", "<button></button>")), "A allows").toBe("allow");
    expect(shortcut(key("D", "<button></button>")), "D denies").toBe("deny");
    expect(shortcut(key("f", "<button></button>")), "F goes to the fields").toBe("fields");
    expect(shortcut(key("x", "<button></button>")), "no other key does").toBeNull();
  });

  it("leaves typing, held keys and other shortcuts alone", () => {
    expect(shortcut(key("a", "<textarea></textarea>")), "typing in a field").toBeNull();
    expect(shortcut(key("a", '<div role="menu"></div>')), "choosing in a menu").toBeNull();
    expect(shortcut(key("a", "<button></button>", { repeat: true })), "a held key").toBeNull();
    expect(shortcut(key("a", "<button></button>", { ctrlKey: true })), "select all").toBeNull();
  });

  it("sends by Ctrl+Enter and Command+Enter, also from a field, and by no other Enter", () => {
    const field = "<input />";
    expect(shortcut(key("Enter", field, { ctrlKey: true }))).toBe("send");
    expect(shortcut(key("Enter", field, { metaKey: true }))).toBe("send");
    expect(shortcut(key("Enter", field))).toBeNull();
    expect(shortcut(key("Enter", field, { ctrlKey: true, repeat: true })), "held").toBeNull();
    expect(shortcut(key("Enter", field, { ctrlKey: true, shiftKey: true }))).toBeNull();
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
