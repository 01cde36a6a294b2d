import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { promisify } from "node:util";
import { type BrokerReply, brokerStandIn, brokerWith, type SeenCall } from "../support/broker.js";
import { repositoryRoot } from "../support/repository.js";
import { runningManagement } from "../support/running-management.js";
import { dashboard } from "./asked-dashboard.js";

const run = promisify(execFile);
const curl = await run("curl", ["--version"]).then(
  () => true,
  () => false,
);
const files = ["docs/management-api.md", "docs/management-api-live.md"];
const page = (await Promise.all(files.map((file) => readFile(join(repositoryRoot, file), "utf8")))).join("\n");
/** The shell blocks that call the interface of this machine. */
const examples = [...page.matchAll(/^```sh\n(.*?)^```/gms)]
  .map(([, text = ""]) => text)
  .filter((text) => text.includes("$BASE/") || text.includes("$BASE "));

test("the page of the management interface has examples", () => assert.ok(examples.length >= 8));

for (const example of examples)
  test(`the example works: ${example.slice(0, 80)}`, {
    skip: curl ? false : "curl is not installed",
  }, async (context) => {
    const broker = await brokerStandIn(context, brokerOfThePage);
    const { port } = await runningManagement(context, dashboard);
    const script = example
      .replaceAll(/^curl /gm, "curl -sS --fail-with-body ")
      .replaceAll('"localhost", "port": "1026"', `"127.0.0.1", "port": "${broker.endpoint.port}"`);

    const { stdout } = await run("sh", ["-ec", script], { env: { ...process.env, BASE: `http://127.0.0.1:${port}` } });

    assert.notEqual(stdout, "");
    assert.doesNotMatch(stdout, /"success":"false"/);
    assert.equal(broker.calls.length, example.includes("/v1/subscriptions") ? example.split(/^curl /m).length - 1 : 0);
  });

function brokerOfThePage(call: SeenCall): BrokerReply | undefined {
  if (call.url === "/v1/subscribeContext") return { status: 200, body: { subscribeResponse: { subscriptionId: "a" } } };
  return brokerWith(["51c0ac9ed714fb3b37d7d5a8"])(call);
}
