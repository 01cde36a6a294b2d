import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import path from "node:path";
import { type TestContext, test } from "node:test";
import { AGENT, agentContainer, DEAD_LETTERS } from "../../core/agent/container.js";
import { readConfiguration } from "../../core/configuration/read-configuration.js";
import { declarationRules } from "../../core/configuration/schema/declaration-rules.js";
import { discover } from "../../core/registry/discover.js";
import { API_VERSION } from "../../core/sdk/index.js";
import { recordingLog } from "../support/recording-log.js";
import { repositoryRoot } from "../support/repository.js";
import { tempFolder } from "../support/temp-folder.js";
import { until } from "../support/until.js";

const folder = path.join(repositoryRoot, "test", "frozen", "version-1");
const MADE_FOR = 1;

test("the frozen plugin is as it was when version 1 was current", async () => {
  const text = await readFile(path.join(folder, "index.js"), "utf8");

  assert.equal(
    createHash("sha256").update(text).digest("hex"),
    "0f74eb3c1fbbd2d14f6549ed9e9a8bfc7d24c447a1962ae6393c4dea74784dc7",
  );
});

// Once the contract has version 3, version 1 is no longer served: then this plugin goes, and one of version 2 stays.
for (const version of [API_VERSION, API_VERSION + 1].filter((one) => one <= MADE_FOR + 1))
  test(`a plugin of version ${MADE_FOR} works in an agent of version ${version}, every kind of component`, async (context) => {
    const home = await tempFolder(context);
    const agent = await startedAgent(context, home, version);

    const answers = [
      await agent.post("/notify", "one\ntwo\ndropped"),
      await agent.post("/notify", ""),
      await agent.post("/emit", '{"three":3}'),
      await agent.post("/notify", "poison"),
    ];

    assert.deepEqual(answers, [200, 400, 200, 200]);
    for (const [name, times] of [
      ["plain", 3],
      ["batch", 4],
    ] as const) {
      const lines = await until(
        async () => (await readFile(path.join(home, name), "utf8").catch(() => "")).trim().split("\n"),
        (found) => found.length >= times,
      );
      assert.deepEqual(lines.slice(0, 3), ['b "one"', 'b "two"', 'b {"three":3}'], name);
    }
    await until(
      async () => agent.letters(),
      (letters) => letters === 1,
    );
  });

test("of a plugin made for an older version the agent says that it is still served", async () => {
  const { problems } = await discover([folder], { apiVersion: MADE_FOR + 1 });

  const told = new Set(problems.map(({ cause }) => cause.replace(/^.*?, /, "")));
  assert.deepEqual(
    [...told],
    [`made for version ${MADE_FOR} of deneb/sdk, an older one that is still served: this agent has version 2`],
  );
  assert.ok(problems.every(({ harmless }) => harmless === true));
});

test("two versions later it is left out, and the agent says why", async () => {
  const { catalogue, problems } = await discover([folder], { apiVersion: MADE_FOR + 2 });

  assert.deepEqual(catalogue.list(), []);
  assert.match(
    problems[0]?.cause ?? "",
    /made for version 1 of deneb\/sdk, which is no longer served: this agent has version 3$/,
  );
});

function properties(home: string): string {
  return `
a.sources = s
a.channels = c1 c2
a.sinks = plain batch
a.sinkgroups = g
a.sources.s.type = frozen-source
a.sources.s.channels = c1 c2
a.sources.s.handler = frozen-handler
a.sources.s.selector.type = frozen-selector
a.sources.s.interceptors = i
a.sources.s.interceptors.i.type = frozen-interceptor
a.sources.s.interceptors.i.drop = dropped
a.sources.s.interceptors.i.mark = b
a.channels.c1.type = frozen-channel
a.channels.c2.type = frozen-channel
a.sinks.plain.type = frozen-sink
a.sinks.plain.channel = c1
a.sinks.plain.file = ${path.join(home, "plain")}
a.sinks.batch.type = frozen-batch-sink
a.sinks.batch.channel = c2
a.sinks.batch.file = ${path.join(home, "batch")}
a.sinks.batch.batch_retry_intervals = 100
a.sinkgroups.g.sinks = batch
a.sinkgroups.g.processor.type = frozen-processor`;
}

interface FrozenAgent {
  post(url: string, body: string): Promise<number>;
  letters(): number;
}

async function startedAgent(context: TestContext, home: string, apiVersion: number): Promise<FrozenAgent> {
  const { catalogue, problems } = await discover([folder], { apiVersion, rules: declarationRules });
  assert.deepEqual(
    problems.filter(({ harmless }) => harmless !== true),
    [],
  );
  const { topology, faults } = readConfiguration({ text: properties(home), env: {}, readFile: () => "", catalogue });
  assert.deepEqual(faults, []);
  assert.ok(topology !== undefined);
  const { log, lines } = recordingLog();
  const container = agentContainer({ topology, dataDir: home, loggers: { of: () => log } });
  const agent = container.resolve(AGENT);
  await agent.start(1000);
  context.after(() => agent.stop(1000));
  const port: unknown = Reflect.get(lines.find(({ message }) => message === "listening")?.fields ?? {}, "port");
  return {
    async post(url, body) {
      const response = await fetch(`http://127.0.0.1:${port}${url}`, { method: "POST", body });
      await response.arrayBuffer();
      return response.status;
    },
    letters: () =>
      container
        .resolve(DEAD_LETTERS)
        .counts()
        .find(({ sink }) => sink === "plain")?.waiting ?? 0,
  };
}
