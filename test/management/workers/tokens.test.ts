import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { AgentFiles } from "../../../core/management/configuration/agent-files.js";
import { catalogueOf } from "../../../core/registry/discover.js";
import { tempFolder } from "../../support/temp-folder.js";
import { runningTeam } from "./running-team.js";

const tokens = { read: ["reader"], admin: ["boss"] };
const withToken = (token: string) => ({ headers: { authorization: `Bearer ${token}` } });

const cases = [
  { method: "GET", path: "/v1/stats", none: 401, read: 200, admin: 200 },
  { method: "GET", path: "/workers/2/v1/stats", none: 401, read: 200, admin: 200 },
  { method: "GET", path: "/workers/2/v1/admin/metrics?reset=true", none: 401, read: 403, admin: 200 },
  { method: "GET", path: "/workers/2/v1/subscriptions", none: 401, read: 403, admin: 400 },
  { method: "PUT", path: "/v1/stats", none: 401, read: 403, admin: 200 },
  { method: "PUT", path: "/workers/2/v1/stats", none: 401, read: 403, admin: 200 },
  { method: "GET", path: "/ready", none: 200, read: 200, admin: 200 },
  { method: "GET", path: "/workers/2/ready", none: 200, read: 200, admin: 200 },
  { method: "GET", path: "/workers/3/v1/stats", none: 401, read: 404, admin: 404 },
] as const;

for (const { method, path, none, read, admin } of cases)
  test(`${method} ${path} is answered ${none} without a token, ${read} with a read token, ${admin} with an admin token`, async (context) => {
    const { call } = await runningTeam(context, { access: { tokens }, workers: [{}, {}] });

    const answers = [
      await call(method, path),
      await call(method, path, withToken("reader")),
      await call(method, path, withToken("boss")),
    ];

    assert.deepEqual(
      answers.map(({ status }) => status),
      [none, read, admin],
    );
  });

test("a worker never sees the token of a caller, and the rights are those at the gateway", async (context) => {
  const { call } = await runningTeam(context, { access: { tokens }, workers: [{}, {}] });

  const reader = await call("GET", "/v1/access", withToken("reader"));
  const boss = await call("GET", "/workers/2/v1/access", withToken("boss"));

  assert.deepEqual([reader.body.role, reader.body.features.broker_targets], ["read", undefined]);
  assert.deepEqual([boss.body.role, boss.body.agent, boss.body.features.broker_targets], ["admin", "a", ["*"]]);
});

test("files of agents need an admin token of the gateway, although workers trust it", async (context) => {
  const { call } = await runningTeam(context, { workers: [{}] });

  const { status, body } = await call("GET", "/v1/admin/configuration/agent/etc/agent_a.properties");

  assert.deepEqual(
    [status, body.error],
    [403, "This needs an admin token; configure one (DENEB_MANAGEMENT_ADMIN_TOKENS)"],
  );
});

test("an admin token of the gateway reads and changes files of agents, which a worker without tokens would refuse", async (context) => {
  const folder = await tempFolder(context);
  const file = join(folder, "agent_a.properties");
  await writeFile(file, "a1.sources = s\n");
  const files = new AgentFiles(folder, join(folder, "running.properties"));
  const configuration = { files, catalogue: catalogueOf([]).catalogue };
  const { call } = await runningTeam(context, { access: { tokens }, workers: [{ configuration }, { configuration }] });
  const path = `/v1/admin/configuration/agent${file}`;

  const put = await call("PUT", `${path}?param=a1.sources&value=t`, withToken("boss"));
  const read = await call("GET", `/workers/2${path}`, withToken("boss"));
  const refused = await call("GET", `/workers/2${path}`, withToken("reader"));

  assert.deepEqual([put.status, read.status, refused.status], [200, 200, 403]);
  assert.deepEqual(read.body.result, { agent: { "a1.sources": "t" } });
});

test("wrong tokens are counted by the supervisor", async (context) => {
  const { call } = await runningTeam(context, { access: { tokens }, workers: [{}] });
  await call("GET", "/v1/stats", withToken("guess"));

  const { text } = await call("GET", "/metrics", withToken("reader"));

  assert.match(text, /^deneb_management_wrong_tokens_total 1$/m);
});
