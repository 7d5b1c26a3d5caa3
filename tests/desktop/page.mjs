// The page in the window, operated by role and accessible name with real clicks and keys.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";

const DEFAULT_TIMEOUT_MS = 15_000;
const RETRY_INTERVAL_MS = 50;
/** Time to wait in milliseconds for a clicked consent request to close, before the click is repeated. */
const CLICK_EFFECT_TIMEOUT_MS = 500;
const CONSENT_REQUEST = "[data-testid=consent-request]";

/**
 * Finds the visible element with a role and an accessible name, which is a text or the parts of a regular expression.
 * Runs in the page.
 */
function locate(role, target, within) {
  const selectors = {
    button: "button, [role=button]",
    link: "a[href]",
    disclosure: "summary",
    tab: "[role=tab]",
    textbox: "textarea, input:not([type]), input[type=text], input[type=search], input[type=password]",
    combobox: "[role=combobox]",
    select: "select",
    checkbox: "input[type=checkbox], [role=checkbox]",
    radio: "input[type=radio], [role=radio]",
    option: "[role=option]",
    menuitem: "[role=menuitem]",
    heading: "h1, h2, h3, h4",
  };
  const pattern = target.pattern === undefined ? null : new RegExp(target.pattern, target.flags);
  const words = (text) => (text ?? "").replace(/\s+/g, " ").trim();
  const nameOf = (element) => {
    const label = element.getAttribute("aria-label");
    if (label) return words(label);
    const ids = element.getAttribute("aria-labelledby");
    if (ids) return words(ids.split(" ").map((id) => document.getElementById(id)?.textContent).join(" "));
    if (element.labels?.length) return words([...element.labels].map((one) => one.textContent).join(" "));
    return words(element.textContent);
  };
  const isShown = (element) => {
    const box = element.getBoundingClientRect();
    return box.width > 0 && box.height > 0 && getComputedStyle(element).visibility !== "hidden";
  };
  const root = within ? document.querySelector(within) : document;
  if (!root) return null;
  const fits = (name) => (pattern ? pattern.test(name) : name === target.text);
  return [...root.querySelectorAll(selectors[role])].find((e) => isShown(e) && fits(nameOf(e))) ?? null;
}

/** Converts a name to a value that can be passed to `locate` in the page. */
const serializedName = (name) => (name instanceof RegExp ? { pattern: name.source, flags: name.flags } : { text: name });

/**
 * Scrolls an element into view, and returns the point to click. Returns `null` while the element is disabled, covered
 * or moving. Runs in the page.
 */
async function middle(element) {
  element.scrollIntoView({ block: "nearest", inline: "nearest" });
  const before = element.getClientRects()[0];
  // The second animation frame starts after the first was painted.
  await new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn)));
  const box = element.getClientRects()[0];
  if (!before || !box || element.getAttribute("aria-disabled") === "true") return null;
  if (before.x !== box.x || before.y !== box.y) return null;
  const [x, y] = [Math.round(box.x + box.width / 2), Math.round(box.y + box.height / 2)];
  const hit = document.elementFromPoint(x, y);
  if (!hit || !(element.contains(hit) || hit.contains(element))) return null;
  // A point next to it, toward the middle of the window.
  return { x, y, from: x > innerWidth / 2 ? x - 20 : x + 20 };
}

const move = (x, y) => ({ type: "pointerMove", duration: 0, origin: "viewport", x, y });
const PRESS = [
  { type: "pointerDown", button: 0 },
  { type: "pointerUp", button: 0 },
];

/**
 * Maximum number of screenshots that are compared until the window is still. While a model answers, it never is.
 */
const MAX_COMPARISONS = 5;
/** Number of screenshots that were saved so far, in all windows. */
let pictures = 0;

export class Page {
  #browser;
  #pictures;
  /** Number of clicks and key presses so far. */
  clicks = 0;

  constructor(browser, pictures) {
    this.#browser = browser;
    this.#pictures = pictures;
  }

  /** Runs a synchronous function in the page. Resolves to its result. */
  run(code, ...args) {
    return this.#browser.executeScript(`return (${code}).apply(null, arguments)`, args);
  }

  /** Runs an asynchronous function in the page. Resolves to its result. */
  #runAsync(code, ...args) {
    const script = `const done = arguments[arguments.length - 1];
       (${code}).apply(null, [...arguments].slice(0, -1)).then(done, () => done(null));`;
    return this.#browser.executeAsyncScript(script, args);
  }

  /** Repeats `attempt` until it returns a truthy value. Throws an error with the description `what` after `limit` milliseconds. */
  async until(what, attempt, limit = DEFAULT_TIMEOUT_MS) {
    const end = Date.now() + limit;
    let error;
    while (Date.now() < end) {
      try {
        const outcome = await attempt();
        if (outcome) return outcome;
        error = undefined;
      } catch (cause) {
        // The page may have replaced the element between two attempts.
        error = cause;
      }
      await wait(RETRY_INTERVAL_MS);
    }
    throw new Error(`waited ${limit / 1000} s for ${what}${error ? `: ${error.message}` : ""}`);
  }

  /**
   * Runs a function in the document of the first frame with this selector. The function is repeated if the frame is
   * replaced meanwhile.
   */
  inFrame(selector, act) {
    return this.until(`the frame ${selector}`, async () => {
      const frame = await this.run((wanted) => document.querySelector(wanted), selector);
      if (!frame) return false;
      await this.#browser.switchToFrame(frame);
      try {
        return { outcome: await act() };
      } finally {
        await this.#browser.switchToFrame(null);
      }
    }).then(({ outcome }) => outcome);
  }

  async #find(role, name, within = null) {
    const element = await this.run(locate, role, serializedName(name), within);
    return element ? Object.values(element)[0] : null;
  }

  #element(role, name, within) {
    return this.until(`the ${role} ${name}`, () => this.#find(role, name, within));
  }

  /** Clicks an element once it can be clicked. */
  async click(role, name, within) {
    await this.until(`a click on the ${role} ${name}`, async () => {
      const element = await this.run(locate, role, serializedName(name), within ?? null);
      if (!element || !(await this.#runAsync(middle, element))) return false;
      await this.#browser.elementClick(Object.values(element)[0]);
      this.clicks += 1;
      return true;
    });
  }

  /**
   * Moves the pointer to an element and clicks it, like a user. The click of the driver is not preceded by pointer
   * movement.
   */
  async goAndClick(role, name, within) {
    const { x, y, from } = await this.until(`the ${role} ${name} to be clickable`, async () => {
      const element = await this.run(locate, role, serializedName(name), within ?? null);
      return element && (await this.#runAsync(middle, element));
    });
    this.clicks += 1;
    await this.#point(move(from, y), move(x, y), ...PRESS);
  }

  /** Clicks again at the current position of the pointer. */
  clickAgain() {
    this.clicks += 1;
    return this.#point(...PRESS);
  }

  /**
   * Scrolls an element to its end in steps, like a wheel. Each step is painted before the next one, because the page
   * records which parts were in view. WebKit's driver does not support wheel input.
   */
  async wheel(within) {
    const turn = async (selector) => {
      await new Promise((painted) => requestAnimationFrame(() => requestAnimationFrame(painted)));
      const box = document.querySelector(selector);
      const before = box.scrollTop;
      box.scrollBy({ top: box.clientHeight / 3, behavior: "instant" });
      return box.scrollTop > before;
    };
    while (await this.#runAsync(turn, within));
  }

  #point(...actions) {
    return this.#browser.performActions([
      { type: "pointer", id: "mouse", parameters: { pointerType: "mouse" }, actions },
    ]);
  }

  /** Replaces the text of a field by typing. */
  async fill(name, text, role = "textbox", within) {
    await this.until(`the ${role} ${name} to contain ${text}`, async () => {
      const id = await this.#find(role, name, within);
      if (id === null) return false;
      await this.#browser.elementClear(id);
      await this.#browser.elementSendKeys(id, text);
      return (await this.#browser.getElementProperty(id, "value")) === text;
    });
  }

  /** Selects an option of a select element. */
  async choose(name, option, within) {
    await this.until(`${option} to be selected as ${name}`, async () => {
      const id = await this.#find("select", name, within);
      if (id === null) return false;
      const path = `.//option[normalize-space()="${option}"]`;
      const [element] = Object.values(await this.#browser.findElementFromElement(id, "xpath", path));
      await this.#browser.elementClick(element);
      return this.#browser.isElementSelected(element);
    });
  }

  /** Presses keys one after another in the focused element. */
  async press(...keys) {
    const actions = keys.flatMap((value) => [
      { type: "keyDown", value },
      { type: "keyUp", value },
    ]);
    await this.#browser.performActions([{ type: "key", id: "keyboard", actions }]);
  }

  /** Presses a key while a modifier key is held down. */
  async chord(modifier, key) {
    const actions = [
      { type: "keyDown", value: modifier },
      { type: "keyDown", value: key },
      { type: "keyUp", value: key },
      { type: "keyUp", value: modifier },
    ];
    await this.#browser.performActions([{ type: "key", id: "keyboard", actions }]);
  }

  async has(role, name, within) {
    return (await this.#find(role, name, within)) !== null;
  }

  /** Returns `true` if an element exists and is enabled. */
  async isOn(role, name, within) {
    const id = await this.#find(role, name, within);
    return id !== null && (await this.#browser.getElementAttribute(id, "aria-disabled")) !== "true";
  }

  /** Waits until an element is visible. */
  waitForElement(role, name, within) {
    return this.#element(role, name, within);
  }

  /** Returns the visible text of an element, by default of the whole page. */
  text(within = "body") {
    return this.run((selector) => document.querySelector(selector)?.innerText ?? "", within);
  }

  /** Waits until a text is visible. */
  async waitForText(target, within = "body") {
    await this.until(`the text ${target} in ${within}`, async () => {
      const text = await this.text(within);
      return target instanceof RegExp ? target.test(text) : text.includes(target);
    });
  }

  /** Turns the wheel by one step while the pointer is over an element. */
  async turnWheel(within) {
    const { x, y } = await this.run((selector) => {
      const box = document.querySelector(selector).getBoundingClientRect();
      return { x: Math.round(box.x + box.width / 2), y: Math.round(box.y + box.height / 2) };
    }, within);
    const scroll = { type: "scroll", duration: 0, origin: "viewport", x, y, deltaX: 0, deltaY: 150 };
    await this.#browser.performActions([{ type: "wheel", id: "wheel", actions: [scroll] }]);
  }

  /** Scrolls an element into view. */
  async scrollTo(within) {
    await this.run((selector) => document.querySelector(selector).scrollIntoView({ block: "nearest" }), within);
  }

  /** Returns the number of open windows. */
  async windows() {
    return (await this.#browser.getWindowHandles()).length;
  }

  /** Runs an action in the other of two windows, and returns to the current one. */
  async inOtherWindow(act) {
    const current = await this.#browser.getWindowHandle();
    const other = (await this.#browser.getWindowHandles()).find((handle) => handle !== current);
    await this.#browser.switchToWindow(other);
    try {
      await act();
    } finally {
      await this.#browser.switchToWindow(current);
    }
  }

  async go(hash) {
    await this.run((to) => void (location.hash = to), hash);
  }

  /** Calls a command of the API like the page does. Resolves to its response or error. */
  invoke(name, request) {
    return this.call(name, { request });
  }

  /** Calls any Tauri command with named arguments. */
  call(name, args) {
    return this.#browser.executeAsyncScript(
      `const [name, args, done] = arguments;
       window.__TAURI_INTERNALS__.invoke(name, args).then(
         (value) => done({ value }), (refused) => done({ refused }));`,
      [name, args],
    );
  }

  /** Waits until the consent request can be approved. Its keyboard shortcuts are enabled from then on, too. */
  async armed() {
    await this.until("the consent request to be armed", () => this.isArmed());
  }

  /** Scrolls through the remaining part of the consent request with the wheel, and waits until it can be approved. */
  async readByWheel() {
    await this.until("the consent request to be viewed to its end, and armed", async () => {
      await this.turnWheel(CONSENT_REQUEST);
      return this.isArmed();
    });
  }

  /** Returns `true` if the consent request can be approved. */
  isArmed() {
    return this.isOn("button", /^(Allow|Ask|Answer|Send|Accept|Open|Share|Always)/, CONSENT_REQUEST);
  }

  /** Expands and scrolls through the whole consent request, and waits until it can be approved. */
  async read() {
    await this.until("the consent request to be viewed completely, and armed", async () => {
      for (const more of [/^More (above|below)/, "Show all of the definition"]) {
        const id = await this.#find("button", more, CONSENT_REQUEST);
        if (id !== null) {
          await this.#browser.elementClick(id);
          this.clicks += 1;
          return false;
        }
      }
      return this.isArmed();
    });
  }

  /** Approves the consent request once it is armed, by a button or by an entry of the menu next to it. */
  async allow(name) {
    await this.read();
    const before = await this.#stage();
    await this.until(`the decision ${name} to be accepted`, async () => {
      if ((await this.#stage()) !== before) return true;
      // A click is ignored while the request changes, as when the server announces other tools.
      if (await this.isArmed()) await this.#clickAnswer(name);
      await wait(CLICK_EFFECT_TIMEOUT_MS);
      return (await this.#stage()) !== before;
    });
  }

  /** Returns the key of the current consent request and its step, or `null` if there is none. */
  #stage() {
    return this.run((within) => document.querySelector(within)?.getAttribute("data-stage") ?? null, CONSENT_REQUEST);
  }

  async #clickAnswer(name) {
    if (await this.has("button", name, CONSENT_REQUEST)) return this.goAndClick("button", name, CONSENT_REQUEST);
    await this.click("button", "More ways to allow", CONSENT_REQUEST);
    await this.click("menuitem", name);
  }

  /** Returns the text of the current consent request. */
  consentRequestText() {
    return this.text(CONSENT_REQUEST);
  }

  waitForConsentRequest(target) {
    return this.waitForText(target, CONSENT_REQUEST);
  }

  /** Saves a screenshot once two consecutive ones are equal, or after a few comparisons. */
  async picture(name) {
    let data = await this.#screenshot();
    for (let look = 1; look < MAX_COMPARISONS; look++) {
      const before = data;
      data = await this.#screenshot();
      if (data === before) break;
    }
    pictures += 1;
    const file = `${String(pictures).padStart(2, "0")}-${name}.png`;
    writeFileSync(join(this.#pictures, file), Buffer.from(data, "base64"));
  }

  /** Saves a screenshot in the light and the dark theme. */
  async inEachTheme(name) {
    const { value } = await this.invoke("read_snapshot", {});
    for (const theme of ["dark", "light"]) {
      await this.invoke("set_settings", { ...value.settings, theme });
      await this.until(`the window to be ${theme}`, () =>
        this.run((target) => document.documentElement.dataset.theme === target, theme),
      );
      await this.picture(`${name}-${theme}`);
    }
  }

  /** Takes a screenshot after the page has painted its current state. */
  async #screenshot() {
    await this.#runAsync(() => new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn))));
    return this.#browser.takeScreenshot();
  }
}
