import assert from "node:assert/strict";
import { test } from "node:test";
import { catalogueOf } from "../../core/registry/discover.js";
import { definePlugin } from "../../core/sdk/index.js";
import { faultTexts, good, more, read } from "../support/configuration.js";
import { fakePlugins } from "../support/plugins.js";

test("a file without faults gives its components, typed, with defaults and links", () => {
  const { topology, agents, faults } = read(
    more(
      "a1.sources.http-source.port = 8080",
      "a1.sources.http-source.handler.default_service = x",
      "a1.sources.http-source.interceptors = ts",
      "a1.sources.http-source.interceptors.ts.type = timestamp",
      "a1.sources.http-source.interceptors.ts.preserve = true",
      "a1.sinks.s.batch_retry_intervals = 10,20 300",
      "a1.sinks.s.backend.enable_cache = true",
    ),
  );

  assert.deepEqual(faults, []);
  assert.deepEqual(agents, ["a1"]);
  const source = topology?.sources[0];
  assert.deepEqual(source?.config, { port: 8080, bind: "0.0.0.0" });
  assert.deepEqual(source.channels, ["c"]);
  assert.deepEqual(source.slots.handler?.config, { notification_target: "/notify", default_service: "x" });
  assert.deepEqual(
    source.interceptors.map(({ name, config }) => ({ name, config })),
    [{ name: "ts", config: { preserve: true } }],
  );
  assert.equal(source.selector.definition.type, "replicating");
  const sink = topology?.sinks[0];
  assert.equal(sink?.channel, "c");
  assert.deepEqual(sink.batching, {
    batchSize: 1,
    batchTimeout: 30,
    batchTtl: 10,
    batchTtlGiven: false,
    batchRetryIntervals: [10, 20, 300],
    persistTimeout: 300,
  });
  assert.equal(sink.config["backend.enable_cache"], true);
  assert.equal(sink.config.rdb_port, 5432);
  assert.deepEqual(
    topology?.channels.map(({ name }) => name),
    ["c"],
  );
});

test("lists may use commas, types any letter case and aliases, selectors their own maps", () => {
  const { topology, faults } = read(
    more("a1.channels = c, d", "a1.channels.d.type = MEMORY", "a1.sources.http-source.channels = c,d")
      .replace("type = rdb", "type = ORG.example.sinks.relationalsink")
      .concat("\na1.sinks = s,t\na1.sinks.t.type = logger\na1.sinks.t.channel = d")
      .concat("\na1.sources.http-source.selector.type = multiplexing")
      .concat("\na1.sources.http-source.selector.mapping.smart.city = c d")
      .concat("\na1.sources.http-source.selector.mapping.b = d"),
  );

  assert.deepEqual(
    faults.filter(({ severity }) => severity === "error"),
    [],
  );
  assert.deepEqual(topology?.sources[0]?.selector.config.mapping, { "smart.city": "c d", b: "d" });
  assert.deepEqual(topology?.sources[0]?.channels, ["c", "d"]);
  assert.deepEqual(
    topology?.sinks.map(({ definition }) => definition.type),
    ["rdb", "logger"],
  );
});

const environments = [
  {
    says: "a variable overrides the file",
    env: { AGENT_RDB_HOST: "db", AGENT_RDB_PORT: "6000" },
    expected: ["db", 6000, ""],
  },
  { says: "an empty variable does not", env: { AGENT_RDB_HOST: "" }, expected: ["here", 5432, ""] },
  {
    says: "a named file gives its value without the last line end",
    env: { AGENT_RDB_PASS_FILE: "/run/secret" },
    expected: ["here", 5432, "from the file"],
  },
  { says: "expressions of the file are replaced", env: { HERE: "x" }, expected: ["x", 5432, ""] },
];
for (const { says, env, expected } of environments) {
  test(`${says}`, () => {
    const { topology, faults } = read(more("a1.sinks.s.rdb_host = ${env:HERE:-here}"), { env });

    assert.deepEqual(faults, []);
    const { rdb_host, rdb_port, rdb_password } = topology?.sinks[0]?.config ?? {};
    assert.deepEqual([rdb_host, rdb_port, rdb_password], expected);
  });
}

const wrongEnvironments = [
  {
    env: { AGENT_RDB_PORT: "x" },
    fault: 'error AGENT_RDB_PORT = "x": must be a whole number from 0 to 65535',
  },
  {
    env: { AGENT_RDB_PASS: "p", AGENT_RDB_PASS_FILE: "/run/secret" },
    fault: 'error AGENT_RDB_PASS_FILE = "/run/secret": is set, and so is AGENT_RDB_PASS; set only one of the two',
  },
  {
    env: { AGENT_RDB_PASS_FILE: "/gone" },
    fault: 'error AGENT_RDB_PASS_FILE = "/gone": names a file that cannot be read: no such file: /gone',
  },
] as const;
for (const { env, fault } of wrongEnvironments) {
  test(`an invalid environment is reported as ${fault}`, () =>
    assert.deepEqual(faultTexts(read(good, { env })), [fault]));
}

const two = `${good}\nb2.sources = x\nb2.sources.x.type = ${"${env:NONE}"}\nb2.oddity = 1`;
const choices = [
  { agent: "a1", text: two, agents: ["a1", "b2"], faults: [] },
  {
    agent: undefined,
    text: two,
    agents: ["a1", "b2"],
    faults: ["error agent: must be named by --name: the file holds a1, b2"],
  },
  {
    agent: "a2",
    text: two,
    agents: ["a1", "b2"],
    faults: ['error agent = "a2": is not in the file, which holds a1, b2; did you mean "a1"?'],
  },
  {
    agent: "a1",
    text: "# nothing",
    agents: [],
    faults: ['error agent = "a1": is not in the file: it holds no sources, channels or sinks of an agent'],
  },
];
for (const { agent, text, agents, faults } of choices) {
  test(`agent ${agent} of a file that holds [${agents}] gives ${faults.length} faults`, () => {
    const configuration = read(text, agent === undefined ? {} : { agent });

    assert.deepEqual(faultTexts(configuration), faults);
    assert.deepEqual(configuration.agents, agents);
    assert.equal(configuration.topology?.agent, faults.length === 0 ? agent : undefined);
  });
}

test("a check that throws is a fault of its component, not a crash", () => {
  const fragile = definePlugin({
    kind: "sink",
    type: "fragile",
    summary: "Its check throws.",
    stability: "stable",
    config: {},
    check: () => {
      throw new Error("a mistake of the plugin");
    },
    create: () => {
      throw new Error("never created");
    },
  });
  const plugins = [...fakePlugins, fragile].map((definition) => ({ definition, origin: "test" }));

  const configuration = read(good.replace("type = rdb", "type = fragile"), {
    catalogue: catalogueOf(plugins).catalogue,
  });

  assert.deepEqual(faultTexts(configuration), [
    'error line 8: a1.sinks.s: could not be checked by the plugin sink "fragile": a mistake of the plugin',
  ]);
});

test("a check that refuses a value which is not set says that it is the default", () => {
  const bounded = definePlugin({
    kind: "sink",
    type: "bounded",
    summary: "Its values depend on each other.",
    stability: "stable",
    config: {
      least: { doc: "The least.", format: "count", default: 5 },
      most: { doc: "The most.", format: "count", default: 10 },
    },
    check: ({ least, most }) =>
      least <= most ? [] : [{ property: "least", reason: `must not be above most, which is ${most}` }],
    create: () => {
      throw new Error("never created");
    },
  });
  const plugins = [...fakePlugins, bounded].map((definition) => ({ definition, origin: "test" }));
  const { catalogue } = catalogueOf(plugins);
  const faultsWith = (...lines: readonly string[]) =>
    faultTexts(read([good.replace("type = rdb", "type = bounded"), ...lines].join("\n"), { catalogue }));

  const byDefault = faultsWith("a1.sinks.s.most = 3");
  const given = faultsWith("a1.sinks.s.most = 3", "a1.sinks.s.least = 4");

  assert.match(
    byDefault.join("\n"),
    /a1\.sinks\.s\.least: must not be above most, which is 3; it is not set, and 5 by default$/,
  );
  assert.match(given.join("\n"), /a1\.sinks\.s\.least = "4": must not be above most, which is 3$/);
});

test("what a check warns of is a warning at its line, and the component is used", () => {
  const hesitant = definePlugin({
    kind: "sink",
    type: "hesitant",
    summary: "Its check warns.",
    stability: "stable",
    config: { depth: { doc: "How deep.", format: "count", default: 5 } },
    check: ({ depth }) => [{ property: "depth", reason: `${depth} is deep`, severity: "warning" }],
    create: () => {
      throw new Error("never created");
    },
  });
  const plugins = [...fakePlugins, hesitant].map((definition) => ({ definition, origin: "test" }));
  const text = [good.replace("type = rdb", "type = hesitant"), "a1.sinks.s.depth = 9"].join("\n");

  const configuration = read(text, { catalogue: catalogueOf(plugins).catalogue });

  assert.match(faultTexts(configuration).join("\n"), /^warning line \d+: a1\.sinks\.s\.depth = "9": 9 is deep$/);
  assert.equal(configuration.topology?.agent, "a1");
});
