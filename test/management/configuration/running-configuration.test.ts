import assert from "node:assert/strict";
import { rm, writeFile } from "node:fs/promises";
import path from "node:path";
import { type TestContext, test } from "node:test";
import { type AgentProcess, startAgent } from "../../support/agent-process.js";
import { tempFolder } from "../../support/temp-folder.js";

const properties = `
a1.sources = http-source
a1.channels = c d
a1.sinks = one two
a1.sources.http-source.type = http
a1.sources.http-source.channels = c d
a1.sources.http-source.bind = 127.0.0.1
a1.sources.http-source.port = 0
a1.sources.http-source.token = secret-of-before
a1.sources.http-source.handler = ngsi
a1.sources.http-source.handler.default_service = svc
a1.channels.c.type = memory
a1.channels.d.type = memory
a1.sinks.one.type = logger
a1.sinks.one.channel = c
a1.sinks.two.type = logger
a1.sinks.two.channel = d
`;

interface Running {
  readonly agent: AgentProcess;
  readonly write: (text: string) => Promise<void>;
  readonly remove: () => Promise<void>;
  readonly call: (method: string, target: string, token?: string) => Promise<Reply>;
}

/** The body is asserted on, member by member. */
interface Reply {
  readonly status: number;
  readonly text: string;
  readonly body: ReturnType<typeof JSON.parse>;
}

async function running(context: TestContext): Promise<Running> {
  const folder = await tempFolder(context);
  const env = {
    DENEB_RELOAD_INTERVAL: "0",
    DENEB_MANAGEMENT_READ_TOKENS: "r",
    DENEB_MANAGEMENT_ADMIN_TOKENS: "t",
  };
  const agent = await startAgent(context, { properties, folder, env });
  const file = path.join(folder, "agent.properties");
  return {
    agent,
    write: (text) => writeFile(file, text),
    remove: () => rm(file),
    async call(method, target, token = "t") {
      const headers = { Authorization: `Bearer ${token}` };
      const response = await fetch(`${agent.managementUrl}${target}`, { method, headers });
      const text = await response.text();
      return { status: response.status, text, body: JSON.parse(text) };
    },
  };
}

test("what a reload is said to replace, start, stop and keep is what it replaces, starts, stops and keeps", async (context) => {
  const { write, call } = await running(context);

  const same = await call("GET", "/v1/configuration", "r");
  await write(
    `${properties
      .replace("a1.sinks = one two", "a1.sinks = one three")
      .replaceAll("sinks.two", "sinks.three")
      .replace("secret-of-before", "secret-of-after")}a1.channels.c.capacity = 777\na1.sinks.three.batch_size = 3\n`,
  );
  const differs = await call("GET", "/v1/configuration", "r");
  const refused = await call("POST", "/v1/admin/reload", "r");
  const reloaded = await call("POST", "/v1/admin/reload");
  const again = await call("POST", "/v1/admin/reload");
  const after = await call("GET", "/v1/configuration", "r");

  assert.deepEqual([same.body.usable, same.body.same, same.body.agent], [true, true, "a1"]);
  const { difference } = differs.body;
  assert.deepEqual([difference.added, difference.removed], [["sink:three"], ["sink:two"]]);
  assert.deepEqual(difference.changed, [
    { id: "source:http-source", changes: [{ setting: "token", old: "***", new: "***", masked: true }] },
    { id: "channel:c", changes: [{ setting: "capacity", old: 100, new: 777 }] },
  ]);
  assert.deepEqual(difference.reload, {
    replaced: ["source:http-source", "channel:c", "sink:one"],
    started: ["sink:three"],
    stopped: ["sink:two"],
    kept: ["channel:d"],
  });
  assert.doesNotMatch(differs.text, /secret-of/);
  assert.equal(refused.status, 403);
  assert.deepEqual([reloaded.status, reloaded.body.outcome], [200, "reloaded"]);
  assert.deepEqual(reloaded.body.started, ["http-source", "c", "one", "three"]);
  assert.deepEqual(reloaded.body.stopped, ["http-source", "c", "one", "two"]);
  assert.deepEqual([again.status, again.body.outcome], [200, "unchanged"]);
  assert.deepEqual([after.body.same, after.body.last_reload.outcome], [true, "unchanged"]);
});

test("a sink group is replaced as a whole when one of its sinks differs", async (context) => {
  const { write, call } = await running(context);
  const grouped = `${properties.replace("two.channel = d", "two.channel = c").replaceAll("c d", "c")}
a1.sinkgroups = g
a1.sinkgroups.g.sinks = one two
a1.sinkgroups.g.processor.type = failover
`.replace("a1.channels.d.type = memory\n", "");
  await write(grouped);
  const before = await call("POST", "/v1/admin/reload");

  await write(`${grouped}a1.sinks.one.batch_size = 7\n`);
  const { difference } = (await call("GET", "/v1/configuration")).body;
  const after = await call("POST", "/v1/admin/reload");

  assert.equal(before.body.outcome, "reloaded");
  assert.deepEqual(
    difference.changed.map(({ id }: { readonly id: string }) => id),
    ["sink:one"],
  );
  assert.deepEqual(difference.reload.replaced, ["sink:one", "sink:two"]);
  assert.deepEqual(after.body.started, ["one", "two"]);
});

test("faults of the file are shown as check shows them, and a reload with errors is refused with them", async (context) => {
  const { write, remove, call } = await running(context);

  await write(`${properties}a1.sinks.one.batch_sice = 3\na1.sinks.two.batch_size = many\n`);
  const faulty = await call("GET", "/v1/configuration");
  const refused = await call("POST", "/v1/admin/reload");
  await remove();
  const gone = await call("GET", "/v1/configuration");
  const noProperties = await call("GET", "/v1/configuration/properties");
  const stats = await call("GET", "/v1/stats");

  assert.deepEqual([faulty.body.usable, faulty.body.difference], [false, undefined]);
  const [first, second] = faulty.body.faults;
  assert.deepEqual([first.severity, first.key, first.line], ["warning", "a1.sinks.one.batch_sice", 18]);
  assert.deepEqual([second.severity, second.value, second.line], ["error", "many", 19]);
  assert.match(second.text, /^line 19: a1\.sinks\.two\.batch_size = "many": must be/);
  assert.deepEqual([refused.status, refused.body.outcome, refused.body.faults.length], [409, "refused", 2]);
  assert.match(refused.body.error, /keeps its present configuration/);
  assert.deepEqual([gone.status, gone.body.usable], [200, false]);
  assert.match(gone.body.faults[0].reason, /could not be read/);
  assert.equal(noProperties.status, 409);
  assert.deepEqual([stats.body.stats.last_reload.ok, stats.body.stats.sinks[0].status], [false, "START"]);
});

test("a component that cannot be started is named by the reload that failed", async (context) => {
  const { write, call } = await running(context);

  await write(properties.replace("http-source.bind = 127.0.0.1", "http-source.bind = 192.0.2.1"));
  const failed = await call("POST", "/v1/admin/reload");
  const running_ = await call("GET", "/v1/configuration");

  assert.deepEqual([failed.status, failed.body.outcome], [409, "failed"]);
  assert.match(failed.body.reason, /192\.0\.2\.1/);
  assert.equal(running_.body.same, false);
});

test("a read token sees the lines of the file without a secret, and nobody sees them without one", async (context) => {
  const { write, call } = await running(context);
  await write(`${properties}a1.sinks.one.unknown_thing = strange-secret\n`);

  const seen = await call("GET", "/v1/configuration/properties", "r");
  const unseen = await call("GET", "/v1/configuration/properties", "wrong");

  assert.equal(unseen.status, 401);
  assert.equal(seen.status, 200);
  assert.doesNotMatch(seen.text, /secret/);
  const shown = new Map(seen.body.properties.map(({ key, value }: Record<"key" | "value", string>) => [key, value]));
  assert.equal(shown.get("a1.sources.http-source.handler.default_service"), "svc");
  assert.equal(shown.get("a1.sources.http-source.token"), "***");
  assert.equal(shown.get("a1.sinks.one.unknown_thing"), "***");
});
