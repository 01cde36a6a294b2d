import assert from "node:assert/strict";
import { mkdir, readFile, rm, symlink, writeFile } from "node:fs/promises";
import nodePath from "node:path";
import { test } from "node:test";
import { editedMemory } from "../../core/files/edited-text.js";
import { nameMappingsOf } from "../../core/management/name-mappings-resource.js";
import { readNameMappingsFile } from "../../core/ngsi/index.js";
import type { AnyPlugin } from "../../core/sdk/index.js";
import nameMappingsPlugin from "../../plugins/name-mappings-interceptor/index.js";
import timestampPlugin from "../../plugins/timestamp-interceptor/index.js";
import { startAgent } from "../support/agent-process.js";
import { ok, refused, startManagement } from "../support/management.js";
import { tempFolder } from "../support/temp-folder.js";

const path = "/v1/namemappings";
const attribute = { originalAttributeName: "t\\d*", originalAttributeType: "Number", newAttributeName: "temp" };
const full = {
  originalService: "suite.(\\d*)",
  servicePathMappings: [
    {
      originalServicePath: "/",
      newServicePath: "/x",
      entityMappings: [{ originalEntityId: 'a"b', originalEntityType: "T", attributeMappings: [attribute] }],
    },
  ],
};
const other = { originalService: "other", newService: "o" };

test("POST adds, PUT updates, DELETE removes; every answer shows all mappings", async (context) => {
  const { call } = await startManagement(context);

  assert.deepEqual(await call("GET", path), ok({ serviceMapping: [] }));
  assert.deepEqual(await call("POST", path, { serviceMapping: [full] }), ok({ serviceMapping: [full] }));
  assert.deepEqual(await call("POST", path, { serviceMappings: [other] }), ok({ serviceMapping: [full, other] }));
  assert.deepEqual(await call("GET", path), ok({ serviceMapping: [full, other] }));
  const renamed = { ...other, newService: "n" };
  const put = await call("PUT", path, { serviceMapping: [renamed, { originalService: "absent", newService: "x" }] });
  assert.deepEqual(put, ok({ serviceMapping: [full, renamed] }));
  const removed = await call("DELETE", path, { serviceMapping: [{ originalService: "other" }] });
  assert.deepEqual(removed, ok({ serviceMapping: [full] }));
});

test("deleting with all four levels takes the attribute mapping away and leaves its parents", async (context) => {
  const { call } = await startManagement(context);
  await call("POST", path, { serviceMapping: [full] });

  const { body } = await call("DELETE", path, { serviceMapping: [full] });

  const text = JSON.stringify(full).replace(JSON.stringify([attribute]), "[]");
  assert.deepEqual(body, { success: "true", serviceMapping: [JSON.parse(text)] });
});

test("a body that is not UTF-8 is refused and changes nothing", async (context) => {
  const { call } = await startManagement(context);
  const body = Buffer.from('{"serviceMapping":[{"originalService":"caf\u00e9","newService":"x"}]}', "latin1");

  const answer = await call("POST", path, body);

  assert.deepEqual(answer, refused({ error: "Parse error, malformed Json. Check it for errors" }));
  assert.deepEqual(await call("GET", path), ok({ serviceMapping: [] }));
});

const refusals = [
  ["POST", undefined, "Given name mappings are null or empty"],
  ["PUT", "  ", "Given name mappings are null or empty"],
  ["DELETE", "null", "Given name mappings are null or empty"],
  ["POST", "{bad", "Parse error, malformed Json. Check it for errors"],
  ["PUT", '{"serviceMapping":[', "Parse error, malformed Json. Check it for errors"],
  ["DELETE", "{bad", "Parse error, malformed Json. Check it for errors"],
  ["POST", "[]", 'reading name mappings: there is no list "serviceMapping" or "serviceMappings"'],
  ["POST", { serviceMapping: {} }, 'reading name mappings: "serviceMapping" must be a list of mappings'],
  [
    "POST",
    { serviceMapping: [{ newService: 1 }] },
    'reading name mappings: "serviceMapping[0].newService" must be a text',
  ],
] as const;
for (const [method, body, error] of refusals)
  test(`${method} ${path} with ${JSON.stringify(body)} is refused and changes nothing`, async (context) => {
    const { call } = await startManagement(context);
    await call("POST", path, { serviceMapping: [other] });

    assert.deepEqual(await call(method, path, body), refused({ error }));

    assert.deepEqual(await call("GET", path), ok({ serviceMapping: [other] }));
  });

for (const originalService of ["(", "(a+)+\\1", "(?=x)", "a{2000}"])
  test(`the expression ${originalService} is refused, but can be removed from a file`, async (context) => {
    const { call, mappingsFile } = await startManagement(context);
    const bad = { serviceMapping: [{ originalService }] };

    for (const method of ["POST", "PUT"]) {
      const { status, body } = await call(method, path, bad);
      assert.equal(status, 400);
      assert.match(JSON.stringify(body), /"error":"Invalid name mappings, serviceMappings\[0\]: compiling/);
    }
    await writeFile(mappingsFile, JSON.stringify({ serviceMappings: [{ originalService }, other] }));
    assert.deepEqual(await call("DELETE", path, bad), ok({ serviceMapping: [other] }));
  });

test("the file keeps its first comments, its key, backslashes and absent names", async (context) => {
  const { call, mappingsFile, read } = await startManagement(context);
  await writeFile(mappingsFile, "# a template\n# of comments\n");

  await call("POST", path, { serviceMapping: [full] });

  const text = await read("mappings.json");
  assert.ok(text.startsWith('# a template\n# of comments\n{\n  "serviceMappings": ['));
  assert.equal(readNameMappingsFile(text).mappings[0]?.texts.has("newService"), false);
  assert.deepEqual(await call("GET", path), ok({ serviceMapping: [full] }));
});

test("changes at the same time are all kept", async (context) => {
  const { call } = await startManagement(context);
  const services = Array.from({ length: 10 }, (_, index) => ({ originalService: `s${index}` }));

  await Promise.all(services.map((service) => call("POST", path, { serviceMapping: [service] })));

  assert.deepEqual(await call("GET", path), ok({ serviceMapping: services }));
});

test("an invalid file is reported and never overwritten", async (context) => {
  const { call, mappingsFile, read } = await startManagement(context);
  await writeFile(mappingsFile, "{ broken");

  for (const [method, body] of [["GET"], ["POST", { serviceMapping: [other] }]] as const) {
    const answer = await call(method, path, body);
    assert.equal(answer.status, 409);
    assert.match(JSON.stringify(answer.body), /"success":"false","error":"reading the name mappings file/);
  }
  assert.equal(await read("mappings.json"), "{ broken");
});

test("a file that cannot be read or written is reported with the reason", async (context) => {
  const { call, folder, mappingsFile } = await startManagement(context);
  // Room for the name, but not for that of the new file beside it.
  const long = nodePath.join(folder, "x".repeat(250));
  await writeFile(long, "");
  await symlink(long, mappingsFile);

  const written = await call("POST", path, { serviceMapping: [other] });
  await rm(mappingsFile);
  await mkdir(mappingsFile);
  const read = await call("GET", path);

  assert.equal(written.status, 409);
  assert.match(JSON.stringify(written.body), /"error":"writing .* \(is its folder writable\?\): ENAMETOOLONG/);
  assert.equal(read.status, 409);
  assert.match(JSON.stringify(read.body), /"error":"reading .*: a folder has the place of a file; move it away/);
});

test("without a file the mappings are kept in memory", async (context) => {
  const { call } = await startManagement(context, editedMemory());

  await call("POST", path, { serviceMapping: [other] });

  assert.deepEqual(await call("GET", path), ok({ serviceMapping: [other] }));
});

test("the file is the one that the name-mappings interceptor reads", async (context) => {
  const { mappingsFile } = await startManagement(context);
  await writeFile(mappingsFile, "the text");
  const node = (name: string, definition: AnyPlugin, config: Readonly<Record<string, unknown>> = {}) => ({
    name,
    definition,
    config,
    slots: {},
  });
  const interceptors = [
    node("ts", timestampPlugin),
    node("nmi", nameMappingsPlugin, { name_mappings_conf_file: mappingsFile }),
  ];
  const source = { ...node("s", timestampPlugin), channels: [], interceptors, selector: node("x", timestampPlugin) };

  const text = nameMappingsOf(() => [source]);

  assert.equal(await text.read(), "the text");
});

test("after a reload the file is the one that the interceptor reads then", async (context) => {
  const folder = await tempFolder(context);
  const before = nodePath.join(folder, "before.json");
  const after = nodePath.join(folder, "after.json");
  const properties = (file: string) =>
    [
      "a1.sources = s",
      "a1.channels = c",
      "a1.sinks = k",
      "a1.sources.s.type = http",
      "a1.sources.s.bind = 127.0.0.1",
      "a1.sources.s.port = 0",
      "a1.sources.s.channels = c",
      "a1.sources.s.handler = ngsi",
      "a1.sources.s.interceptors = nmi",
      "a1.sources.s.interceptors.nmi.type = name-mappings",
      `a1.sources.s.interceptors.nmi.name_mappings_conf_file = ${file}`,
      "a1.channels.c.type = memory",
      "a1.sinks.k.type = logger",
      "a1.sinks.k.channel = c",
    ].join("\n");
  await Promise.all([before, after].map((file) => writeFile(file, '{"serviceMappings":[]}')));
  const agent = await startAgent(context, {
    properties: properties(before),
    folder,
    env: { DENEB_RELOAD_INTERVAL: "0" },
  });
  await writeFile(nodePath.join(folder, "agent.properties"), properties(after));
  await fetch(`${agent.managementUrl}/v1/admin/reload`, { method: "POST" });

  const response = await fetch(`${agent.managementUrl}${path}`, {
    method: "POST",
    body: JSON.stringify({ serviceMapping: [{ originalService: "openiot", newService: "city" }] }),
  });

  assert.equal(response.status, 200);
  assert.match(await readFile(after, "utf8"), /city/);
  assert.doesNotMatch(await readFile(before, "utf8"), /city/);
});
