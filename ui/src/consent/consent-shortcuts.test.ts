import { describe, expect, it } from "vitest";

import { isHeldActivation, consentShortcut } from "./consent-shortcuts";

function keyEventOn(name: string, on: string, more: KeyboardEventInit = {}): KeyboardEvent {
  document.body.innerHTML = on;
  const event = new KeyboardEvent("keydown", { key: name, bubbles: true, ...more });
  document.body.firstElementChild?.dispatchEvent(event);
  return event;
}

describe("shortcuts of a consent request", () => {
  it("recognizes A and D in either case", () => {
    expect(consentShortcut(keyEventOn("a", "<button></button>")), "A should allow").toBe("allow");
    expect(consentShortcut(keyEventOn("D", "<button></button>")), "D should deny").toBe("deny");
    expect(consentShortcut(keyEventOn("f", "<button></button>")), "F should focus the fields").toBe(
      "fields",
    );
    expect(
      consentShortcut(keyEventOn("x", "<button></button>")),
      "other keys should have no effect",
    ).toBeNull();
  });

  it("ignores typing, repeated keys and other shortcuts", () => {
    expect(
      consentShortcut(keyEventOn("a", "<textarea></textarea>")),
      "typing in a field should have no effect",
    ).toBeNull();
    expect(
      consentShortcut(keyEventOn("a", '<div role="menu"></div>')),
      "a selection in a menu should have no effect",
    ).toBeNull();
    expect(
      consentShortcut(keyEventOn("a", "<button></button>", { repeat: true })),
      "a repeated key should have no effect",
    ).toBeNull();
    expect(
      consentShortcut(keyEventOn("a", "<button></button>", { ctrlKey: true })),
      "the shortcut to select all should have no effect",
    ).toBeNull();
  });

  it("works while a check box has the focus, which takes no letters", () => {
    expect(consentShortcut(keyEventOn("a", "<input type=checkbox />"))).toBe("allow");
    expect(consentShortcut(keyEventOn("d", "<input type=radio />"))).toBe("deny");
    expect(consentShortcut(keyEventOn("a", "<input type=text />"))).toBeNull();
  });

  it("sends by Ctrl+Enter and Command+Enter, also from a field, and by no other Enter", () => {
    const field = "<input />";
    expect(consentShortcut(keyEventOn("Enter", field, { ctrlKey: true }))).toBe("send");
    expect(consentShortcut(keyEventOn("Enter", field, { metaKey: true }))).toBe("send");
    expect(consentShortcut(keyEventOn("Enter", field))).toBeNull();
    expect(
      consentShortcut(keyEventOn("Enter", field, { ctrlKey: true, repeat: true })),
      "a repeated key should have no effect",
    ).toBeNull();
    expect(
      consentShortcut(keyEventOn("Enter", field, { ctrlKey: true, shiftKey: true })),
    ).toBeNull();
  });

  it("distinguishes a repeated Enter on a button from one in a field", () => {
    expect(
      isHeldActivation(keyEventOn("Enter", "<button></button>", { repeat: true })),
      "a repeated Enter on a button should be detected",
    ).toBe(true);
    expect(
      isHeldActivation(keyEventOn("Enter", "<textarea></textarea>", { repeat: true })),
      "a repeated Enter in a text should not be detected",
    ).toBe(false);
    expect(
      isHeldActivation(keyEventOn("Enter", "<button></button>")),
      "a single Enter should not be detected",
    ).toBe(false);
  });
});
