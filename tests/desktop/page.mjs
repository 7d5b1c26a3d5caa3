// The page in the window, as a user meets it: controls by their role and name, real clicks and keys.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";

const PATIENCE_MS = 15_000;
const LOOK_AGAIN_MS = 50;
/** How long a consent request may stay after a click before the click is repeated. */
const ANSWER_MS = 500;
const QUESTION = "[data-testid=question]";

/** Finds the visible element of a role with a name (a text, or /pattern/flags in pieces). Runs in the page. */
function locate(role, wanted, within) {
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
  const pattern = wanted.pattern === undefined ? null : new RegExp(wanted.pattern, wanted.flags);
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
  const fits = (name) => (pattern ? pattern.test(name) : name === wanted.text);
  return [...root.querySelectorAll(selectors[role])].find((e) => isShown(e) && fits(nameOf(e))) ?? null;
}

/** A name as `locate` takes it. */
const wantedOf = (name) => (name instanceof RegExp ? { pattern: name.source, flags: name.flags } : { text: name });

/**
 * Brings an element into view and returns the point to click on; null while it is disabled, covered or still moves.
 * Runs in the page.
 */
async function middle(element) {
  element.scrollIntoView({ block: "nearest", inline: "nearest" });
  const before = element.getClientRects()[0];
  // The second frame begins after the first was drawn.
  await new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn)));
  const box = element.getClientRects()[0];
  if (!before || !box || element.getAttribute("aria-disabled") === "true") return null;
  if (before.x !== box.x || before.y !== box.y) return null;
  const [x, y] = [Math.round(box.x + box.width / 2), Math.round(box.y + box.height / 2)];
  const hit = document.elementFromPoint(x, y);
  if (!hit || !(element.contains(hit) || hit.contains(element))) return null;
  // Beside it, toward the middle of the window.
  return { x, y, from: x > innerWidth / 2 ? x - 20 : x + 20 };
}

const move = (x, y) => ({ type: "pointerMove", duration: 0, origin: "viewport", x, y });
const PRESS = [
  { type: "pointerDown", button: 0 },
  { type: "pointerUp", button: 0 },
];

/** How often a window is looked at that never stands still, as while a model answers. */
const LOOKS = 5;
/** How many pictures there are, of all windows. */
let pictures = 0;

export class Page {
  #browser;
  #pictures;
  /** How often a user would have clicked so far. */
  clicks = 0;

  constructor(browser, pictures) {
    this.#browser = browser;
    this.#pictures = pictures;
  }

  /** Runs a function in the page. */
  run(code, ...args) {
    return this.#browser.executeScript(`return (${code}).apply(null, arguments)`, args);
  }

  /** Runs an asynchronous function in the page. */
  #runAsync(code, ...args) {
    const script = `const done = arguments[arguments.length - 1];
       (${code}).apply(null, [...arguments].slice(0, -1)).then(done, () => done(null));`;
    return this.#browser.executeAsyncScript(script, args);
  }

  /** Tries until the outcome is one, and says what was waited for if it never is. */
  async until(what, attempt) {
    const end = Date.now() + PATIENCE_MS;
    let error;
    while (Date.now() < end) {
      try {
        const outcome = await attempt();
        if (outcome) return outcome;
        error = undefined;
      } catch (cause) {
        // Between two looks the page may have drawn the element anew.
        error = cause;
      }
      await wait(LOOK_AGAIN_MS);
    }
    throw new Error(`waited ${PATIENCE_MS / 1000} s for ${what}${error ? `: ${error.message}` : ""}`);
  }

  async #find(role, name, within = null) {
    const element = await this.run(locate, role, wantedOf(name), within);
    return element ? Object.values(element)[0] : null;
  }

  #element(role, name, within) {
    return this.until(`the ${role} ${name}`, () => this.#find(role, name, within));
  }

  /** Clicks, once it can be clicked. */
  async click(role, name, within) {
    await this.until(`a click on the ${role} ${name}`, async () => {
      const element = await this.run(locate, role, wantedOf(name), within ?? null);
      if (!element || !(await this.#runAsync(middle, element))) return false;
      await this.#browser.elementClick(Object.values(element)[0]);
      this.clicks += 1;
      return true;
    });
  }

  /** Goes there with the pointer and clicks, as a user does; the driver's own clicks have no way that led to them. */
  async goAndClick(role, name, within) {
    const { x, y, from } = await this.until(`the ${role} ${name} to lie open`, async () => {
      const element = await this.run(locate, role, wantedOf(name), within ?? null);
      return element && (await this.#runAsync(middle, element));
    });
    this.clicks += 1;
    await this.#point(move(from, y), move(x, y), ...PRESS);
  }

  /** Clicks where the pointer is, without moving it. */
  clickAgain() {
    this.clicks += 1;
    return this.#point(...PRESS);
  }

  /** Scrolls a part of the window to its end, as a wheel does, which WebKit's driver does not turn. */
  async wheel(within) {
    await this.run((selector) => document.querySelector(selector).scrollBy({ top: 100_000 }), within);
  }

  #point(...actions) {
    return this.#browser.performActions([
      { type: "pointer", id: "mouse", parameters: { pointerType: "mouse" }, actions },
    ]);
  }

  /** Replaces what is in a field. */
  async fill(name, text, role = "textbox", within) {
    await this.until(`the ${role} ${name} to hold ${text}`, async () => {
      const id = await this.#find(role, name, within);
      if (id === null) return false;
      await this.#browser.elementClear(id);
      await this.#browser.elementSendKeys(id, text);
      return (await this.#browser.getElementProperty(id, "value")) === text;
    });
  }

  /** Chooses from a list. */
  async choose(name, option, within) {
    await this.until(`${option} to be chosen as ${name}`, async () => {
      const id = await this.#find("select", name, within);
      if (id === null) return false;
      const path = `.//option[normalize-space()="${option}"]`;
      const [element] = Object.values(await this.#browser.findElementFromElement(id, "xpath", path));
      await this.#browser.elementClick(element);
      return this.#browser.isElementSelected(element);
    });
  }

  /** Presses keys where the focus is. */
  async press(...keys) {
    const actions = keys.flatMap((value) => [
      { type: "keyDown", value },
      { type: "keyUp", value },
    ]);
    await this.#browser.performActions([{ type: "key", id: "keyboard", actions }]);
  }

  /** Holds a modifier while a key is pressed. */
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

  /** Whether it is there and can be used. */
  async isOn(role, name, within) {
    const id = await this.#find(role, name, within);
    return id !== null && (await this.#browser.getElementAttribute(id, "aria-disabled")) !== "true";
  }

  sees(role, name, within) {
    return this.#element(role, name, within);
  }

  /** The text that can be seen, in one place or everywhere. */
  text(within = "body") {
    return this.run((selector) => document.querySelector(selector)?.innerText ?? "", within);
  }

  /** Waits until a text can be read. */
  async reads(wanted, within = "body") {
    await this.until(`the text ${wanted} in ${within}`, async () => {
      const text = await this.text(within);
      return wanted instanceof RegExp ? wanted.test(text) : text.includes(wanted);
    });
  }

  /** Turns the wheel with the pointer over something, further than there is to scroll. */
  async turnWheel(within) {
    const { x, y } = await this.run((selector) => {
      const box = document.querySelector(selector).getBoundingClientRect();
      return { x: Math.round(box.x + box.width / 2), y: Math.round(box.y + box.height / 2) };
    }, within);
    const scroll = { type: "scroll", duration: 0, origin: "viewport", x, y, deltaX: 0, deltaY: 5000 };
    await this.#browser.performActions([{ type: "wheel", id: "wheel", actions: [scroll] }]);
  }

  /** Scrolls to where something is. */
  async scrollTo(within) {
    await this.run((selector) => document.querySelector(selector).scrollIntoView({ block: "nearest" }), within);
  }

  /** How many windows there are. */
  async windows() {
    return (await this.#browser.getWindowHandles()).length;
  }

  async go(hash) {
    await this.run((to) => void (location.hash = to), hash);
  }

  /** Calls a command as the page does: what it gives, or its error. */
  invoke(name, request) {
    return this.call(name, { request });
  }

  /** Calls whatever Tauri knows, with arguments by name. */
  call(name, args) {
    return this.#browser.executeAsyncScript(
      `const [name, args, done] = arguments;
       window.__TAURI_INTERNALS__.invoke(name, args).then(
         (value) => done({ value }), (refused) => done({ refused }));`,
      [name, args],
    );
  }

  /** Waits until what is asked could be read: then it can be allowed, and its keys work. */
  async armed() {
    await this.until("the question to be armed", () => this.isArmed());
  }

  /** Looks at the rest of what is asked by turning the wheel, and waits until it can be allowed. */
  async readByWheel() {
    await this.until("the question to be read to its end, and armed", async () => {
      await this.turnWheel(QUESTION);
      return this.isArmed();
    });
  }

  /** Whether what is asked can be allowed now. */
  isArmed() {
    return this.isOn("button", /^(Allow|Ask|Answer|Send|Accept|Open|Share|Always)/, QUESTION);
  }

  /** Looks at all of what is asked, what is folded and what lies below, and waits until it can be allowed. */
  async read() {
    await this.until("the question to be seen whole, and armed", async () => {
      for (const more of [/^More below/, "Show all of the definition"]) {
        const id = await this.#find("button", more, QUESTION);
        if (id !== null) {
          await this.#browser.elementClick(id);
          this.clicks += 1;
          return false;
        }
      }
      return this.isArmed();
    });
  }

  /** Lets what is asked cross, once it is armed: by a button, or by an entry of the menu beside it. */
  async allow(name) {
    await this.read();
    const before = await this.#stage();
    await this.until(`${name} to be taken`, async () => {
      if ((await this.#stage()) !== before) return true;
      // A click does not count while what is asked changes, as when the server announces other tools.
      if (await this.isArmed()) await this.#clickAnswer(name);
      await wait(ANSWER_MS);
      return (await this.#stage()) !== before;
    });
  }

  /** The consent request in front, and how far it is decided; null if there is none. */
  #stage() {
    return this.run((within) => document.querySelector(within)?.getAttribute("data-stage") ?? null, QUESTION);
  }

  async #clickAnswer(name) {
    if (await this.has("button", name, QUESTION)) return this.goAndClick("button", name, QUESTION);
    await this.click("button", "More ways to allow", QUESTION);
    await this.click("menuitem", name);
  }

  /** What is asked now. */
  question() {
    return this.text(QUESTION);
  }

  asks(wanted) {
    return this.reads(wanted, QUESTION);
  }

  /** Keeps a picture of the window, once it stands still or was looked at a few times. */
  async picture(name) {
    let data = await this.#screenshot();
    for (let look = 1; look < LOOKS; look++) {
      const before = data;
      data = await this.#screenshot();
      if (data === before) break;
    }
    pictures += 1;
    const file = `${String(pictures).padStart(2, "0")}-${name}.png`;
    writeFileSync(join(this.#pictures, file), Buffer.from(data, "base64"));
  }

  /** Keeps a picture in each theme. */
  async inEachTheme(name) {
    const { value } = await this.invoke("snapshot", {});
    for (const theme of ["dark", "light"]) {
      await this.invoke("set_settings", { ...value.settings, theme });
      await this.until(`the window to be ${theme}`, () =>
        this.run((wanted) => document.documentElement.dataset.theme === wanted, theme),
      );
      await this.picture(`${name}-${theme}`);
    }
  }

  /** What the window shows, after the page has drawn its current state. */
  async #screenshot() {
    await this.#runAsync(() => new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn))));
    return this.#browser.takeScreenshot();
  }
}
