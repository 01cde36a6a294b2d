import assert from "node:assert/strict";
import path from "node:path";
import { test } from "node:test";
import { catalogueOf } from "../../../core/registry/discover.js";
import { definePlugin } from "../../../core/sdk/index.js";
import { faultTexts, more, read } from "../../support/configuration.js";
import { fakePlugins } from "../../support/plugins.js";

const declared = { stability: "stable", summary: "A plugin that exists for its declaration only." } as const;

function create(): never {
  throw new Error("a plugin of the configuration tests was created");
}

const { catalogue } = catalogueOf(
  [
    ...fakePlugins,
    definePlugin({
      ...declared,
      kind: "source",
      type: "listening",
      config: {
        port: { doc: "Port.", format: "port", default: 7000, resource: "port" },
        bind: { doc: "Address.", format: "text", default: "0.0.0.0", resource: "host" },
      },
      create,
    }),
    definePlugin({
      ...declared,
      kind: "source",
      type: "subscribing",
      config: {
        server: { doc: "Address.", format: "text", resource: "client" },
        name: { doc: "Name at the server.", format: "text", default: "", resource: "client" },
      },
      create,
    }),
    definePlugin({
      ...declared,
      kind: "channel",
      type: "kept",
      config: {
        index: { doc: "Folder.", format: "text", default: "", resource: "folder" },
        data: { doc: "Folders.", format: "words", default: [], resource: "folder" },
      },
      create,
    }),
    definePlugin({
      ...declared,
      kind: "sink",
      type: "sending",
      config: { url: { doc: "Address.", format: "text", resource: "url" } },
      create,
    }),
  ].map((definition) => ({ definition, origin: "test" })),
);

/** One source, channel and sink each, without faults; further lines are added. */
const lines = {
  sources: "a1.sources = s t",
  text: (...further: readonly string[]) =>
    [
      "a1.sources = s t",
      "a1.channels = c d",
      "a1.sinks = k l",
      "a1.sources.s.type = listening",
      "a1.sources.s.channels = c",
      "a1.sources.t.type = listening",
      "a1.sources.t.channels = d",
      "a1.channels.c.type = kept",
      "a1.channels.d.type = kept",
      "a1.sinks.k.type = sending",
      "a1.sinks.k.channel = c",
      "a1.sinks.l.type = sending",
      "a1.sinks.l.channel = d",
      ...further,
    ].join("\n"),
};
const away = ["a1.sinks.k.url = http://store.example/a", "a1.sinks.l.url = http://store.example/b"];
const apart = ["a1.sources.s.port = 7001", "a1.sources.t.port = 7002"];

const cases = [
  { says: "different ports, folders and targets", further: [...apart, ...away], faults: [] },
  {
    says: "one port twice",
    further: ["a1.sources.s.port = 7001", "a1.sources.t.port = 7001", ...away],
    faults: [
      'error line 15: a1.sources.t.port = "7001": is the port of "a1.sources.s" too; give each a port of its own',
    ],
  },
  {
    says: "a default that another one has",
    further: ["a1.sources.s.port = 7000", ...away],
    faults: [
      'error line 6: a1.sources.t.port = "7000": is the port of "a1.sources.s" too; give each a port of its own',
    ],
  },
  {
    says: "one port at two addresses",
    further: ["a1.sources.s.bind = 192.0.2.1", "a1.sources.t.bind = 192.0.2.2", ...away],
    faults: [],
  },
  {
    says: "one port at an address and at all addresses",
    further: ["a1.sources.s.bind = 192.0.2.1", ...away],
    faults: [
      'error line 6: a1.sources.t.port = "7000": is the port of "a1.sources.s" too; give each a port of its own',
    ],
  },
  {
    says: "one port at two names of this machine",
    further: ["a1.sources.s.bind = 127.0.0.1", "a1.sources.t.bind = localhost", ...away],
    faults: [
      'error line 6: a1.sources.t.port = "7000": is the port of "a1.sources.s" too; give each a port of its own',
    ],
  },
  {
    says: "ports that the system chooses",
    further: ["a1.sources.s.port = 0", "a1.sources.t.port = 0", ...away],
    faults: [],
  },
  {
    says: "the port of the management interface",
    further: ["a1.sources.s.port = 5080", ...away],
    faults: [
      'error line 14: a1.sources.s.port = "5080": is the port of the management interface too; choose another, here or with --management-port',
    ],
  },
  {
    says: "one folder of two channels, written in two ways",
    further: [
      "a1.channels.c.index = /var/deneb/x",
      "a1.channels.d.data = /var/deneb/y /var/deneb/z/../x/",
      ...apart,
      ...away,
    ],
    faults: [
      `error line 15: a1.channels.d.data = "${path.resolve("/var/deneb/x")}": is a folder of "a1.channels.c" too; give each component folders of its own`,
    ],
  },
  {
    says: "a folder in the folder of another channel",
    further: ["a1.channels.c.index = /var/deneb/x", "a1.channels.d.index = /var/deneb/x/y", ...apart, ...away],
    faults: [
      `error line 15: a1.channels.d.index = "${path.resolve("/var/deneb/x/y")}": overlaps "${path.resolve("/var/deneb/x")}", a folder of "a1.channels.c"; give each component folders of its own`,
    ],
  },
  {
    says: "folders of which one begins as the other",
    further: ["a1.channels.c.index = /var/deneb/x", "a1.channels.d.index = /var/deneb/xy", ...apart, ...away],
    faults: [],
  },
  {
    says: "a sink that sends to the source of its channel",
    further: [...apart, "a1.sinks.k.url = http://LOCALHOST:7001/notify", "a1.sinks.l.url = http://127.0.0.1:7003/"],
    faults: [
      'error line 16: a1.sinks.k.url = "http://LOCALHOST:7001/notify": is source "s", from which the events of this sink come: they would circulate without end; send elsewhere',
    ],
  },
  {
    says: "a sink that sends to another source of this agent",
    further: [...apart, "a1.sinks.k.url = http://localhost:7002/", "a1.sinks.l.url = http://store.example/"],
    faults: [],
  },
  {
    says: "two sinks that send to the source of the other one",
    further: [...apart, "a1.sinks.k.url = http://localhost:7002/", "a1.sinks.l.url = http://[::1]:7001/"],
    faults: [
      'error line 16: a1.sinks.k.url = "http://localhost:7002/": is source "t", from which the events of this sink come: they would circulate without end; send elsewhere',
      'error line 17: a1.sinks.l.url = "http://[::1]:7001/": is source "s", from which the events of this sink come: they would circulate without end; send elsewhere',
    ],
  },
  {
    says: "a sink that sends to the address its source listens on",
    further: [
      ...apart,
      "a1.sources.s.bind = 2001:db8::1",
      "a1.sinks.k.url = http://[2001:db8::1]:7001/",
      "a1.sinks.l.url = http://store.example/",
    ],
    faults: [
      'error line 17: a1.sinks.k.url = "http://[2001:db8::1]:7001/": is source "s", from which the events of this sink come: they would circulate without end; send elsewhere',
    ],
  },
  {
    says: "the same port at another machine",
    further: [...apart, "a1.sinks.k.url = http://store.example:7001/", "a1.sinks.l.url = http://store.example/"],
    faults: [],
  },
  {
    says: "a way back that a selector may not take",
    further: [
      ...apart,
      "a1.sinks.k.url = http://localhost:7001/",
      "a1.sinks.l.url = http://store.example/",
      "a1.sources.s.selector.type = multiplexing",
      "a1.sources.s.selector.mapping.x = c",
    ],
    faults: [
      'warning line 16: a1.sinks.k.url = "http://localhost:7001/": is source "s", from which the events of this sink come: they would circulate without end; send elsewhere',
    ],
  },
] as const;
for (const { says, further, faults } of cases)
  test(`a file with ${says} has ${faults.length} faults`, () => {
    const configuration = read(lines.text(...further), { catalogue, management: { host: "127.0.0.1", port: 5080 } });

    assert.deepEqual(faultTexts(configuration), faults);
    assert.equal(
      configuration.topology === undefined,
      faults.some((fault) => fault.startsWith("error")),
    );
  });

const second = ["a1.sinks.t.type = logger", "a1.sinks.t.channel = c"];

test("two sinks on one channel are a warning, and none in a group", () => {
  const apartText = more(...second).replace("a1.sinks = s", "a1.sinks = s t");
  const group = ["a1.sinkgroups = g", "a1.sinkgroups.g.sinks = s t", "a1.sinkgroups.g.processor.type = failover"];

  assert.deepEqual(faultTexts(read(apartText)), [
    'warning line 11: a1.sinks.t.channel = "c": is read by sink "s" too: each event goes to one of them only; give each a channel, or put both in a sink group',
  ]);
  const shared = faultTexts(read([apartText, ...group].join("\n"))).filter((fault) =>
    fault.includes("is read by sink"),
  );
  assert.deepEqual(shared, []);
});

const variables = [
  { name: "DENEB_MANAGMENT_PORT", nearest: '; did you mean "DENEB_MANAGEMENT_PORT"?' },
  { name: "DENEB_SOMETHING_ELSE_ALTOGETHER", nearest: "" },
  { name: "AGENT_RDB_PAS", nearest: '; did you mean "AGENT_RDB_PASS"?' },
  { name: "AGENT_RDB_PASSWORD", nearest: '; did you mean "AGENT_RDB_PASS"?' },
] as const;
for (const { name, nearest } of variables)
  test(`the variable ${name}, which is not read, is a warning without its value`, () => {
    const faults = faultTexts(read(more(), { env: { [name]: "hush" } }));

    assert.deepEqual(faults, [`warning ${name}: is an environment variable that nothing reads${nearest}`]);
  });

test("a variable that only the file of the container image reads is a warning with the line to write", () => {
  const env = { AGENT_RDB_BATCH_SIZE: "hush" };

  assert.deepEqual(faultTexts(read(more(), { env })), [
    "warning AGENT_RDB_BATCH_SIZE: is an environment variable that nothing reads; write batch_size = ${env:AGENT_RDB_BATCH_SIZE} in the file, as the file of the container image does",
  ]);
  assert.deepEqual(faultTexts(read(more("a1.sinks.s.batch_size = ${env:AGENT_RDB_BATCH_SIZE:-1}"), { env: {} })), []);
});

test("variables that are read, also by the file, empty ones and those of other programs give no warning", () => {
  const env = { DENEB_DATA_DIR: "d", DENEB_SIZE: "1", DENEB_ODD: "", DENEB_TEST_X: "1", AGENT_OS: "Linux", HOME: "/" };

  assert.deepEqual(faultTexts(read(more("a1.sinks.s.batch_size = ${env:DENEB_SIZE}"), { env })), []);
});

const subscribing = (source: string, server: string, name: string) => [
  `a1.sources.${source}.type = subscribing`,
  `a1.sources.${source}.channels = c`,
  `a1.sources.${source}.server = ${server}`,
  ...(name === "" ? [] : [`a1.sources.${source}.name = ${name}`]),
];

test("two sources with one name at one server are an error that names both keys, and no others are", () => {
  const text = [
    "a1.sources = s t u v w",
    "a1.channels = c",
    "a1.sinks = k",
    "a1.channels.c.type = kept",
    "a1.sinks.k.type = sending",
    "a1.sinks.k.channel = c",
    "a1.sinks.k.url = http://elsewhere.example/",
    ...subscribing("s", "mqtt://one", "x"),
    ...subscribing("t", "mqtt://one", "x"),
    ...subscribing("u", "mqtt://two", "x"),
    ...subscribing("v", "mqtt://one", ""),
    ...subscribing("w", "mqtt://one", ""),
  ].join("\n");

  assert.deepEqual(faultTexts(read(text, { catalogue })), [
    'error line 15: a1.sources.t.name = "x": is a1.sources.s.name at the same server too, which would end the connection of one for the other; give each a name of its own',
  ]);
});
