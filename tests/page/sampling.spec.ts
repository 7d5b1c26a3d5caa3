// A server's request to a model, from the first word to the last: turned on, asked, answered by a model of a provider that is
// not ours (aimock), watched, changed, sent; declined; within a budget.
import {
  allow,
  type DevHost,
  expect,
  question,
  test as base,
  visit,
} from "./fixtures";
import { Provider } from "./provider";

/** Must be nowhere to be seen. */
const KEY = "sk-canary-page-77aa01";

const test = base.extend<{ provider: Provider }>({
  provider: [async ({ host }, use) => {
    const provider = await Provider.start(KEY);
    await provider.setUpIn(host);
    const model = { provider: "fake", model: "gpt-5.2" };
    const { settings: before } = await host.call<{ settings: object }>("sampling", {
      server: "harbour",
    });
    await host.call("set_sampling", { server: "harbour", settings: { ...before, model } });
    await use(provider);
    await provider.stop();
  }, { auto: true }],
});

/** Has the server ask a model this, and lets it be called. */
async function asksModel(
  host: DevHost,
  words: string,
): Promise<{ said: Promise<string> }> {
  const request = {
    call: "sampling",
    server: "harbour",
    tool: "ask_model",
    arguments: { question: words, with_picture: false },
  };
  const called = host.call<{ content: { text: string }[] }>(
    "call_tool",
    request,
  );
  const said = called.then(({ content }) =>
    content.map(({ text }) => text).join(""),
  );
  said.catch(() => undefined);
  await host.answerNext("tool", { action: "allow", scope: "once" });
  return { said };
}

test("a request is put to a model, watched, changed and sent", async ({
  app,
  host,
  provider,
}) => {
  const { said } = await asksModel(host, "say hello");
  const frame = question(app);
  await expect(frame).toContainText("say hello");
  await expect(
    frame.getByLabel("Answered by"),
    "the model that answers",
  ).toContainText("gpt-5.2");
  await expect(frame).toContainText("You chose this model for this server.");
  expect(
    await provider.asked(),
    "[sampling-human-in-loop]: nothing went there yet",
  ).toEqual([]);
  await allow(app, "Ask gpt-5.2");
  await expect(frame).toContainText("Sends to harbour as the model's answer:");
  await expect(frame).toContainText(
    "Hello! Grüße, 你好 and 👋 from the model.",
  );
  const [asked] = await provider.asked();
  expect(JSON.stringify(asked?.body), "what was shown went there").toContain(
    "friendly harbour master",
  );
  await frame.getByRole("button", { name: "Edit the answer" }).click();
  await frame
    .getByRole("textbox", { name: "Your answer" })
    .fill("Hello from the harbour.");
  await frame.getByRole("button", { name: "Review the answer" }).click();
  await allow(app, "Send the answer");
  expect(await said, "[sampling-review-result]: what was reviewed").toContain(
    "Hello from the harbour.",
  );
  await visit(app, "#/server/harbour/permissions");
  const models = app.getByRole("region", { name: "Your models" });
  await expect(
    models.getByRole("row", { name: /^Requests/ }),
    "it is counted",
  ).toContainText("1 used");
  expect(await app.content(), "the key is nowhere").not.toContain(KEY);
});

test("a long answer comes as it is said, and can be stopped", async ({
  app,
  host,
}) => {
  const { said } = await asksModel(host, "write a long answer");
  await allow(app, "Ask gpt-5.2");
  const log = question(app).getByRole("log");
  await expect(log).toContainText("word word");
  await question(app).getByRole("button", { name: "Stop" }).click();
  await expect(question(app)).toContainText("You stopped the model.");
  await question(app)
    .getByRole("button", { name: "Back to the request" })
    .click();
  await expect(question(app)).toContainText("write a long answer");
  await question(app).getByRole("button", { name: "Decline" }).click();
  expect(await said.catch(String), "[sampling-reject-error]: declined").toMatch(
    /reject/i,
  );
});

test("what goes wrong at the provider is said, and the user answers by hand", async ({
  app,
  host,
}) => {
  const { said } = await asksModel(host, "say the error overload");
  await allow(app, "Ask gpt-5.2");
  await expect(question(app)).toContainText("The model did not answer.");
  await expect(question(app)).toContainText("overloaded");
  await question(app)
    .getByRole("button", { name: "Answer it yourself" })
    .click();
  await question(app)
    .getByRole("textbox", { name: "Your answer" })
    .fill("By hand.");
  await question(app)
    .getByRole("button", { name: "Review the answer" })
    .click();
  await allow(app, "Send the answer");
  expect(await said, "[sampling-approval-controls]").toContain(
    "user said: By hand.",
  );
});

test("X26: a budget lets requests through, ends them, and is said", async ({
  app,
  host,
  provider,
}) => {
  await visit(app, "#/server/harbour/permissions");
  const models = app.getByRole("region", { name: "Your models" });
  await models.getByLabel("Requests per hour").fill("1");
  await models.getByRole("button", { name: "Allow without asking" }).click();
  await app
    .getByRole("dialog")
    .getByRole("button", { name: "Allow without asking" })
    .click();
  await expect(models).toContainText(
    "Up to 1 requests and 20,000 tokens per hour",
  );
  const first = await asksModel(host, "say hello");
  expect(await first.said, "X26: let through within the budget").toContain(
    "from the model",
  );
  const second = await asksModel(host, "say hello");
  await expect(question(app), "X26: beyond it, it asks").toContainText(
    "requests an answer from a model",
  );
  await question(app).getByRole("button", { name: "Decline" }).click();
  await second.said.catch(() => undefined);
  await models.getByLabel("Requests, Per hour: limit").fill("1");
  await models.getByLabel("Requests, Per hour: limit").blur();
  await expect(
    models,
    "X26: the limit is reached, which is said",
  ).toContainText("A limit is reached");
  const third = await asksModel(host, "say hello");
  expect(await third.said.catch(String), "X26: and refused").toMatch(
    /limit is reached/,
  );
  expect((await provider.asked()).length, "X26: one request and no more").toBe(
    1,
  );
});
