// Sampling request of a server: enabled, approved, answered by an independent mock provider (aimock), streamed,
// edited, sent; denied; within a budget.
import { Provider } from "../provider.cjs";
import {
  allow,
  type DevHost,
  expect,
  consentRequest,
  test as base,
  visit,
  waitUntilDeniable,
} from "./fixtures";

/** API key that must never be visible in the page. */
const KEY = "sk-canary-page-77aa01";

const test = base.extend<{ provider: Provider }>({
  provider: [async ({ host }, use) => {
    const provider = await Provider.start(KEY);
    await provider.setUpIn(host);
    const model = { provider: "fake", model: "gpt-5.2" };
    const { settings: before } = await host.call<{ settings: object }>("read_sampling", {
      server: "harbour",
    });
    await host.call("set_sampling", { server: "harbour", settings: { ...before, model } });
    await use(provider);
    await provider.stop();
  }, { auto: true }],
});

/** Enables sampling for a server and makes it send a sampling request. */
async function requestSampling(
  host: DevHost,
  words: string,
): Promise<{ answer: Promise<string> }> {
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
  const answer = called.then(({ content }) =>
    content.map(({ text }) => text).join(""),
  );
  answer.catch(() => undefined);
  await host.answerNext("tool", { action: "allow", scope: "once" });
  return { answer };
}

test("E27: a request is sent to a model without the messages that the user removed, streamed, edited and sent", async ({
  app,
  host,
  provider,
}) => {
  const { answer } = await requestSampling(host, "say hello");
  const frame = consentRequest(app);
  await expect(frame).toContainText("say hello");
  await expect(
    frame.getByLabel("Answered by"),
    "the request should name the model",
  ).toContainText("gpt-5.2");
  await expect(frame).toContainText("You chose this model for this server.");
  expect(
    await provider.requestBodies(),
    "[sampling-human-in-loop]: the model should receive nothing before consent",
  ).toEqual([]);
  await frame.getByRole("button", { name: "Edit the request" }).click();
  for (const name of ["Remove message 1", "Remove message 2"]) {
    await frame.getByRole("button", { name }).click();
  }
  await expect(
    frame.getByRole("button", { name: "Remove message 3" }),
    "E27: the last message should stay",
  ).toHaveCount(0);
  await frame.getByRole("button", { name: "Use these changes" }).click();
  await expect(frame, "E27: the removed messages should be gone").not.toContainText("lighthouse");
  await allow(app, "Ask gpt-5.2");
  await expect(frame).toContainText("Sends to harbour as the model's answer:");
  await expect(frame).toContainText(
    "Hello! Grüße, 你好 and 👋 from the model.",
  );
  const [modelRequest] = await provider.requestBodies();
  expect(JSON.stringify(modelRequest), "the model should receive the request that was shown").toContain(
    "friendly harbour master",
  );
  expect(JSON.stringify(modelRequest), "E27: the model should not receive them").not.toContain("lighthouse");
  await frame.getByRole("button", { name: "Edit the answer" }).click();
  await frame
    .getByRole("textbox", { name: "Your answer" })
    .fill("Hello from the harbour.");
  await frame.getByRole("button", { name: "Review the answer" }).click();
  await allow(app, "Send the answer");
  expect(await answer, "[sampling-review-result]: the server should receive the reviewed answer").toContain(
    "Hello from the harbour.",
  );
  await visit(app, "#/server/harbour/permissions");
  const models = app.getByRole("region", { name: "Your models" });
  await expect(
    models.getByRole("row", { name: /^Requests/ }),
    "the request should be counted",
  ).toContainText("1 used");
  expect(await app.content(), "the page should not contain the key").not.toContain(KEY);
});

test("E1: an unread request can't reach the model by a manual answer", async ({
  app,
  host,
  provider,
}) => {
  const { answer } = await requestSampling(host, "say hello ".repeat(3_000));
  const request = await host.consentRequest("sampling");
  const frame = consentRequest(app);
  const ask = frame.getByRole("button", { name: "Ask gpt-5.2" });
  await app.mouse.move(1, 1);
  await waitUntilDeniable(app);
  await expect(
    ask,
    "the button should be disabled until the rest was viewed",
  ).toHaveAttribute("aria-disabled", "true");
  await frame.getByRole("button", { name: "Answer it yourself" }).click();
  await frame.getByRole("textbox", { name: "Your answer" }).fill("Mine.");
  await frame.getByRole("button", { name: "Review the answer" }).click();
  await expect(frame).toContainText("Sends to harbour as the model's answer:");
  await expect(
    frame.getByRole("button", { name: "Ask again" }),
    "nothing should be requested again before the first request",
  ).toHaveCount(0);
  const reviewed = await host.consentRequest("sampling");
  for (const from of [request, reviewed]) {
    await expect(
      host.answer(from, { action: "rerun_model" }),
      "the host should refuse it as well",
    ).rejects.toThrow();
  }
  await allow(app, "Send the answer");
  expect(await answer, "the server should receive the manual answer").toContain(
    "user said: Mine.",
  );
  expect(
    await provider.requestBodies(),
    "the model should receive nothing",
  ).toEqual([]);
});

test("a long response is streamed, and can be stopped", async ({
  app,
  host,
}) => {
  const { answer } = await requestSampling(host, "write a long answer");
  await allow(app, "Ask gpt-5.2");
  const log = consentRequest(app).getByRole("log");
  await expect(log).toContainText("word word");
  await consentRequest(app).getByRole("button", { name: "Stop" }).click();
  await expect(consentRequest(app)).toContainText("You stopped the model.");
  await consentRequest(app)
    .getByRole("button", { name: "Back to the request" })
    .click();
  await expect(consentRequest(app)).toContainText("write a long answer");
  await waitUntilDeniable(app);
  await consentRequest(app).getByRole("button", { name: "Decline" }).click();
  expect(await answer.catch(String), "[sampling-reject-error]: the call should report the rejection").toMatch(
    /reject/i,
  );
});

test("an error of the provider is shown, and the user answers manually", async ({
  app,
  host,
}) => {
  const { answer } = await requestSampling(host, "say the error overload");
  await allow(app, "Ask gpt-5.2");
  await expect(consentRequest(app)).toContainText("The model did not answer.");
  await expect(consentRequest(app)).toContainText("overloaded");
  await consentRequest(app)
    .getByRole("button", { name: "Answer it yourself" })
    .click();
  await consentRequest(app)
    .getByRole("textbox", { name: "Your answer" })
    .fill("By hand.");
  await consentRequest(app)
    .getByRole("button", { name: "Review the answer" })
    .click();
  await allow(app, "Send the answer");
  expect(await answer, "[sampling-approval-controls]: the server should receive the manual answer").toContain(
    "user said: By hand.",
  );
});

test("X26: a budget allows requests, ends, and is shown", async ({
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
  const first = await requestSampling(host, "say hello");
  expect(await first.answer, "X26: a request within the budget should be answered without consent").toContain(
    "from the model",
  );
  const second = await requestSampling(host, "say hello");
  await expect(consentRequest(app), "X26: a request beyond the budget should require consent").toContainText(
    "requests an answer from a model",
  );
  await consentRequest(app).getByRole("button", { name: "Decline" }).click();
  await second.answer.catch(() => undefined);
  await models.getByLabel("Requests, Per hour: limit").fill("1");
  await models.getByLabel("Requests, Per hour: limit").blur();
  await expect(
    models,
    "X26: the view should show that the limit is reached",
  ).toContainText("A limit is reached");
  const third = await requestSampling(host, "say hello");
  expect(await third.answer.catch(String), "X26: a request beyond the limit should be refused").toMatch(
    /limit is reached/,
  );
  expect((await provider.requestBodies()).length, "X26: the provider should receive one request").toBe(
    1,
  );
});
