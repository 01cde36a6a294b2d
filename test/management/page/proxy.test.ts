import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer, type IncomingMessage, request, type ServerResponse } from "node:http";
import type { TestContext } from "node:test";
import { browserTest } from "../../support/chromium.js";
import { pageAgent } from "../../support/page-agent.js";
import { until } from "../../support/until.js";

type Passing = (incoming: IncomingMessage, outgoing: ServerResponse) => void;

/** Passes all calls on, after the other has seen them; it may end an answer. */
async function proxyOf(context: TestContext, managementUrl: string, see: Passing) {
  const server = createServer((incoming, outgoing) => {
    see(incoming, outgoing);
    if (outgoing.writableEnded) return;
    const { method = "GET", url = "/", headers } = incoming;
    const passed = request(new URL(url, managementUrl), { method, headers }, (answer) => {
      outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(outgoing);
    });
    passed.on("error", () => outgoing.destroy());
    outgoing.on("close", () => passed.destroy());
    incoming.pipe(passed);
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  context.after(() => {
    server.close();
    server.closeAllConnections();
  });
  const address = server.address();
  const url = `http://127.0.0.1:${typeof address === "object" ? address?.port : ""}`;
  return { url, end: () => server.closeAllConnections() };
}

/** Sends everybody without its cookie to its login, as proxies do that log people in. */
const login: Passing = ({ headers }, outgoing) => {
  if (/\blogin=done\b/.test(headers.cookie ?? "")) return;
  outgoing.writeHead(302, { Location: "https://login.example/" }).end();
};

browserTest(
  "behind a proxy that logs people in the page works, and says when the login has ended",
  async (context, open) => {
    const { agent } = await pageAgent(context);
    const proxy = await proxyOf(context, agent.managementUrl, login);
    const cookie = { name: "login", value: "done", domain: "127.0.0.1", path: "/", expires: -1 };
    const cookies = [{ ...cookie, httpOnly: true, secure: false, sameSite: "Lax" as const }];
    const { page } = await open(proxy.url, { view: "logs", settings: { storageState: { cookies, origins: [] } } });
    await page.locator(".masthead").getByText("Live").waitFor();
    await page.getByLabel("Level of root").selectOption("DEBUG");
    await page.getByText("root logs at DEBUG now.").waitFor();

    await page.context().clearCookies();
    proxy.end();

    await page.getByText("Connection lost").waitFor();
    const masthead = page.locator(".masthead");
    await masthead.getByText("A proxy leads elsewhere, to its login perhaps. Load the page again.").waitFor();
    assert.equal(await page.getByText("This agent needs a token").count(), 0);
  },
);

browserTest("a stream that a proxy cuts goes on, and is not shown as lost each time", async (context, open) => {
  const { agent } = await pageAgent(context);
  let cuts = 0;
  const proxy = await proxyOf(context, agent.managementUrl, ({ url }, outgoing) => {
    if (url !== "/v1/stream") return;
    const timer = setTimeout(() => {
      cuts += 1;
      outgoing.end();
    }, 1500);
    outgoing.once("close", () => clearTimeout(timer));
  });
  const { page } = await open(proxy.url);
  await page.locator(".masthead").getByText("Live").waitFor();
  await page.evaluate(`globalThis.told = [];
    new MutationObserver(() => told.push(document.querySelector(".connection").innerText))
      .observe(document.querySelector(".connection"), { childList: true, subtree: true, characterData: true })`);

  await until(
    async () => cuts,
    (number) => number >= 3,
  );
  await page.locator(".masthead").getByText("Live").waitFor();

  assert.deepEqual(await page.evaluate("told"), []);
});
