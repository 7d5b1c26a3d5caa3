// Restrictions of a compromised page: it can't call the system except through the host, navigate, open windows or use
// the network.
import assert from "node:assert/strict";

export async function pageRestrictions(page, place, step) {
  await step("the page can invoke its own commands only", async () => {
    const forbidden = [
      ["plugin:opener|open_url", { url: "https://example.com/" }],
      ["plugin:dialog|open", { options: {} }],
      ["plugin:notification|notify", { options: { title: "x" } }],
      ["plugin:window|create", { options: { label: "other", url: "https://example.com/" } }],
      ["plugin:event|listen", { event: "x", target: { kind: "Any" }, handler: 1 }],
    ];
    for (const [name, args] of forbidden) {
      const { refused } = await page.call(name, args);
      assert.match(String(refused), /not allowed|not found/, `${name} should be refused`);
    }
    const { frozen, global } = await page.run(() => ({
      frozen: Object.isFrozen(Object.prototype),
      global: "__TAURI__" in window,
    }));
    assert.ok(frozen, "`Object.prototype` should be frozen");
    assert.equal(global, false, "the global API of Tauri should be disabled");
    const { value } = await page.invoke("read_snapshot", {});
    assert.equal(value.servers.length, 1, "commands of the API should be available");
  });

  await step("the page can't navigate, and opens no window", async () => {
    const before = await page.run(() => location.href);
    await page.run(() => void (location.href = "https://example.com/"));
    await page.run(() => void window.open("https://example.com/"));
    await page.waitForText("Your tools, behind a bridge you control");
    assert.equal(await page.run(() => location.href.split("#")[0]), before.split("#")[0], "the page should not navigate");
    assert.equal(await page.windows(), 1, "one window should be open");
  });

  await step("the page has no network access, and runs no script from data", async () => {
    const outcome = await page.run(() => {
      const script = document.createElement("script");
      script.textContent = "window.intruder = true";
      document.head.append(script);
      const image = document.createElement("img");
      document.body.append(image);
      window.blocked = [];
      addEventListener("securitypolicyviolation", (event) => window.blocked.push(event.effectiveDirective));
      image.src = "https://example.com/x.png";
      fetch("https://example.com/").catch(() => undefined);
      return { intruder: window.intruder ?? false };
    });
    assert.equal(outcome.intruder, false, "an inline script should not run");
    await page.until("both requests to be blocked", async () => {
      const blocked = await page.run(() => window.blocked);
      return blocked.includes("img-src") && blocked.includes("connect-src");
    });
  });
}
