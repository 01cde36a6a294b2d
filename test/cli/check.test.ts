import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import path from "node:path";
import { test } from "node:test";
import { check } from "../../core/cli/check.js";
import { exitCodes } from "../../core/cli/command.js";
import { recordingTerminal } from "../support/recording-terminal.js";
import { tempFolder } from "../support/temp-folder.js";

const file = `
a.sources = s
a.channels = c
a.sinks = l
a.sources.s.type = org.apache.flume.source.http.HTTPSource
a.sources.s.port = 5050
a.sources.s.channels = c
a.sources.s.handler = ngsi
a.channels.c.type = memory
a.sinks.l.type = logger
a.sinks.l.channel = c
`.trim();

const reading = (type: string) =>
  file
    .replace("type = org.apache.flume.source.http.HTTPSource", `type = ${type}\na.sources.s.topics = t`)
    .replace("port = 5050", type === "mqtt" ? "url = mqtt://localhost" : "bootstrap_servers = localhost:9092");

const cases = [
  {
    what: "an old spelling is reported and fails no check",
    text: file,
    code: exitCodes.success,
    says: "notice: line 4: ",
  },
  {
    what: "a warning is reported and fails no check",
    text: `${file}\na.sinks.l.odd = 1`,
    code: exitCodes.success,
    says: "warning: line 11: ",
  },
  {
    what: "a source that gives its handler another path than the one it takes notifications at is an error",
    text: file
      .replace("type = org.apache.flume.source.http.HTTPSource", "type = mqtt\na.sources.s.topics = t")
      .replace("port = 5050", "url = mqtt://localhost")
      .concat("\na.sources.s.handler.notification_target = /other"),
    code: exitCodes.badInput,
    says: 'error: line 12: a.sources.s.handler.notification_target: the handler takes notifications at "/other"',
  },
  ...[
    {
      fixed: "content_type = text/plain",
      says: "must be application/json, application/ld+json or application/geo+json",
    },
    { fixed: `service = ${"s".repeat(51)}`, says: "must be of 50 characters at the most" },
    { fixed: "service_path = farm", says: "must start with / and be of 50 characters at the most" },
  ].flatMap(({ fixed, says }) =>
    ["mqtt", "kafka"].map((type) => ({
      what: `a source of type ${type} with ${fixed}, which its handler refuses, is an error`,
      text: `${reading(type)}\na.sources.s.handler.ngsi_version = auto\na.sources.s.${fixed}`,
      code: exitCodes.badInput,
      says: `error: line 13: a.sources.s.${fixed.replace(" = ", ' = "')}": ${says}`,
    })),
  ),
  {
    what: "a service path that NGSI-LD does not use fails no check",
    text: `${reading("kafka")}\na.sources.s.service_path = farm\na.sinks.l.odd = 1`,
    code: exitCodes.success,
    says: "warning: line 13: ",
  },
  {
    what: "a secret of another type of sink is not shown",
    text: `${file}\na.sinks.l.headers.X-Own = word`,
    code: exitCodes.success,
    says: 'warning: line 11: a.sinks.l.headers.X-Own = "***"',
  },
  {
    what: "a misspelt map of secrets is not shown",
    text: `${file}\na.sinks.l.header.X-Own = word`,
    code: exitCodes.success,
    says: 'warning: line 11: a.sinks.l.header.X-Own = "***"',
  },
  {
    what: "a misspelt property that is no secret is shown, also where it resembles a map of secrets of a sink",
    text: `${file}\na.sources.s.selector.type = multiplexing\na.sources.s.selector.mapping.x = c\na.sources.s.selector.headre = odd`,
    code: exitCodes.success,
    says: 'warning: line 13: a.sources.s.selector.headre = "odd"',
  },
] as const;
for (const { what, text, code, says } of cases) {
  test(what, async (context) => {
    const config = path.join(await tempFolder(context), "agent.properties");
    await writeFile(config, text);
    const { terminal, err } = recordingTerminal();

    assert.equal(await check({ config }, terminal), code);
    assert.ok(err.some((line) => line.startsWith(says)));
  });
}

const MAPPED = JSON.stringify({
  serviceMappings: [{ originalService: "^a$", newService: "b", servicePathMappings: [] }],
});
const EMPTY = JSON.stringify({ serviceMappings: [] });
const asRdb = (text: string) => text.replace("type = logger", "type = rdb");
const asMapped = (text: string) => `${asRdb(text)}\na.sinks.l.enable_name_mappings = true`;
const mappings = [
  { what: "before an rdb sink", change: asRdb, file: MAPPED, warned: 1 },
  { what: "before an rdb sink that stores them", change: asMapped, file: MAPPED, warned: 0 },
  { what: "before a sink of another type", change: (text: string) => text, file: MAPPED, warned: 0 },
  { what: "of a file without any", change: asRdb, file: EMPTY, warned: 0 },
  { what: "of a file that is not there", change: asRdb, file: undefined, warned: 0 },
];

for (const { what, change, file: content, warned } of mappings)
  test(`name mappings ${what} are warned of ${warned} times`, async (context) => {
    const folder = await tempFolder(context);
    const config = path.join(folder, "agent.properties");
    const conf = path.join(folder, "mappings.json");
    const interceptor = ["", ".nm.type", ".nm.name_mappings_conf_file"].map(
      (key) => `a.sources.s.interceptors${key} = `,
    );
    const values = ["nm", "name-mappings", conf];
    const lines = interceptor.map((line, at) => `${line}${values[at]}`);
    await writeFile(config, [change(file), ...lines].join("\n"));
    if (content !== undefined) await writeFile(conf, content);
    const { terminal, err } = recordingTerminal();

    const code = await check({ config }, terminal);

    assert.equal(code, exitCodes.success, err.join("\n"));
    const told = err.filter((line) => line.includes("no sink behind it has enable_name_mappings = true"));
    assert.equal(told.length, warned, err.join("\n"));
  });
