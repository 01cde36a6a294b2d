import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer, type Server } from "node:http";
import type { AgentProcess } from "../../support/agent-process.js";
import { browserTest } from "../../support/chromium.js";
import { pageAgent } from "../../support/page-agent.js";
import { until } from "../../support/until.js";

const env = { DENEB_MANAGEMENT_READ_TOKENS: "reads-only", DENEB_MANAGEMENT_ADMIN_TOKENS: "changes-things" };

browserTest(
  "an agent with tokens is asked nothing before one is given, and a wrong one is named as such",
  async (context, open) => {
    const { agent } = await pageAgent(context, { env });
    const { page } = await open(agent.managementUrl);
    await page.getByRole("heading", { name: "This agent needs a token" }).waitFor();

    await page.getByLabel("Token").fill("wrong");
    await page.getByRole("button", { name: "Open" }).click();
    await page.getByText("The agent does not know this token.").waitFor();
    // The field has the focus again.
    await page.getByLabel("Token").and(page.locator(":focus")).waitFor();
    await page.keyboard.insertText("no token of äscii");
    await page.keyboard.press("Enter");
    await page.getByText("A token has letters, digits and signs of ASCII only").waitFor();
    await page.getByLabel("Token").fill("changes-things");
    await page.getByLabel("Token").press("Enter");

    await page.getByText("All 3 components are up.").first().waitFor();
    const kept = await page.evaluate(
      "[Object.values(sessionStorage), localStorage.length, document.cookie, location.href]",
    );
    const headers = { Authorization: "Bearer changes-things" };
    const metrics = await (await fetch(`${agent.managementUrl}/metrics`, { headers })).text();
    assert.match(metrics, /^deneb_management_wrong_tokens_total 1$/m);
    assert.deepEqual(kept, [["changes-things"], 0, "", `${agent.managementUrl}/ui/#/`]);
  },
);

browserTest("a token that is forgotten is gone, and so is what the page showed", async (context, open) => {
  const { agent } = await pageAgent(context, { env });
  const { page } = await open(agent.managementUrl, { token: "changes-things" });
  await page.getByText("All 3 components are up.").first().waitFor();

  await page.getByRole("button", { name: "Forget the token" }).click();

  await page.getByRole("heading", { name: "This agent needs a token" }).waitFor();
  await page.getByText("Token needed").waitFor();
  assert.equal(await page.evaluate("sessionStorage.length"), 0);
  assert.equal(await page.locator("main").getByText("http-source").count(), 0);
});

browserTest(
  "a browser that keeps nothing for pages shows an agent, and knows its token until the page is loaded again",
  async (context, open) => {
    const { agent } = await pageAgent(context, { env });
    const { page } = await open("about:blank");
    await page.addInitScript({
      content: `Object.defineProperty(window, "sessionStorage", { get() { throw new DOMException("", "SecurityError"); } })`,
    });
    await page.goto(`${agent.managementUrl}/ui/`);

    await page.getByLabel("Token").fill("changes-things");
    await page.getByRole("button", { name: "Open" }).click();
    await page.getByText("All 3 components are up.").first().waitFor();
    await page.reload();

    await page.getByRole("heading", { name: "This agent needs a token" }).waitFor();
  },
);

browserTest("a read token sees every view without a button that it may not use, and says so", async (context, open) => {
  const { agent } = await pageAgent(context, { env });
  const { page } = await open(agent.managementUrl, { token: "reads-only" });
  await page.getByText("Read only").waitFor();

  for (const [view, sentence] of [
    ["dead-letters", "Looking into dead letters, replaying and dropping them needs an admin token."],
    ["arrivals", "Seeing what arrives needs an admin token."],
    ["explain", "Explaining needs an admin token."],
    ["configuration", "Reloading needs an admin token."],
    ["subscriptions", "Calling a broker needs an admin token."],
    ["logs", "Changing a level needs an admin token."],
  ] as const) {
    await page.goto(`${agent.managementUrl}/ui/#/${view}`);
    await page.getByText(sentence).waitFor();

    const buttons = await page.locator("main").getByRole("button").allTextContents();
    assert.deepEqual(
      buttons.filter((text) => /Replay|Drop|Dry|Reload|Switch|Explain|List/.test(text)),
      [],
      view,
    );
  }
  assert.equal(await page.locator("main select").count(), 0);
});

browserTest("what the page of a read token does not offer is refused by the agent, too", async (context, open) => {
  const { agent } = await pageAgent(context, { env });
  const { page } = await open(agent.managementUrl, { token: "reads-only" });
  await page.getByText("Read only").waitFor();

  const statuses = await page.evaluate(`Promise.all([
    ["POST", "reload"], ["POST", "explain"], ["POST", "deadletters/replay"], ["DELETE", "deadletters?all=true"],
    ["PUT", "arrivals"], ["GET", "arrivals"], ["PUT", "log/loggers"],
  ].map(async ([method, path]) => {
    const headers = { Authorization: "Bearer reads-only" };
    return (await fetch("../v1/admin/" + path, { method, headers, ...(method === "GET" ? {} : { body: "{}" }) })).status;
  }))`);

  assert.deepEqual(statuses, [403, 403, 403, 403, 403, 403, 403]);
});

browserTest(
  "a page of another site reads nothing of the agent and changes nothing, by script, image or form",
  async (context, open) => {
    const { agent } = await pageAgent(context);
    const server = createServer((_request, response) => {
      response.setHeader("Content-Type", "text/html");
      response.end(`<img src="${agent.managementUrl}/v1/admin/metrics?reset=true">
      <form method="post" enctype="text/plain" action="${agent.managementUrl}/v1/admin/reload"><input name="a"></form>`);
    });
    await once(server.listen(0, "127.0.0.1"), "listening");
    context.after(() => server.close());
    const { page } = await open(agent.managementUrl);

    await page.goto(`http://127.0.0.1:${portOf(server)}/`);
    const script = await page.evaluate(
      `fetch(${JSON.stringify(`${agent.managementUrl}/v1/stats`)}).then(() => "read", () => "refused")`,
    );
    await until(
      async () => statusesOf(agent, "/v1/admin/metrics"),
      ({ length }) => length > 0,
    );
    // Later: a script that leaves its page may have no result.
    await page.evaluate("void setTimeout(() => document.forms[0].submit())");
    await until(
      async () => statusesOf(agent, "/v1/admin/reload"),
      ({ length }) => length > 0,
    );

    assert.equal(script, "refused");
    assert.deepEqual(statusesOf(agent, "/v1/admin/metrics"), [403]);
    assert.deepEqual(statusesOf(agent, "/v1/admin/reload"), [403]);
  },
);

/** The answers to calls that change something, by the log. */
function statusesOf({ lines }: AgentProcess, path: string): readonly unknown[] {
  return lines.filter((line) => line["msg"] === "management call" && line["path"] === path).map(({ status }) => status);
}

function portOf(server: Server): number {
  const address = server.address();
  return typeof address === "object" && address !== null ? address.port : 0;
}
