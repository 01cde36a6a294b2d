import assert from "node:assert/strict";
import { mkdir, readFile, symlink, truncate, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { AgentFiles } from "../../../core/management/configuration/agent-files.js";
import { catalogueOf } from "../../../core/registry/discover.js";
import httpSink from "../../../plugins/http-sink/index.js";
import httpSource from "../../../plugins/http-source/index.js";
import memory from "../../../plugins/memory-channel/index.js";
import rdb from "../../../plugins/rdb-sink/index.js";
import { runningManagement } from "../../support/running-management.js";
import { tempFolder } from "../../support/temp-folder.js";

const plugins = [httpSource, memory, rdb, httpSink].map((definition) => ({ definition, origin: "test" }));
const { catalogue } = catalogueOf(plugins);
const SECRET = "s3cr3t";
const text = [
  "# kept",
  "a.sources = s",
  "a.sources.s.type = org.apache.flume.source.http.HTTPSource",
  "a.sources.s.port = 5050",
  `a.sources.s.token = ${SECRET}1`,
  "a.channels = c",
  "a.channels.c.type = memory",
  "a.sinks = p h q",
  "a.sinks.p.type = com.telefonica.iot.cygnus.sinks.NGSIPostgreSQLSink",
  "a.sinks.p.channel = c",
  "a.sinks.p.postgresql_host = db.example.org",
  `a.sinks.p.postgresql_password = \${env:PW:-${SECRET}2}`,
  `a.sinks.p.postgresql_options = sslmode=require&sslpassword=${SECRET}3`,
  `a.sinks.p.postgresql_pasword = ${SECRET}4`,
  "a.sinks.h.type = http",
  "a.sinks.h.channel = c",
  `a.sinks.h.url = https://u:${SECRET}5@example.org/x`,
  `a.sinks.h.headers.X-Api = ${SECRET}6`,
  "a.sinks.q.type = unknown",
  `a.sinks.q.anything = ${SECRET}7`,
  `a.sinks.q.channel = ${SECRET}8?`,
  "",
].join("\n");

const agent = "/v1/admin/configuration/agent";

test("the properties of a file are shown without any secret", async (context) => {
  const { ask, file } = await configured(context);

  const { status, body, text: answered } = await ask("GET", `${agent}${file}`);

  assert.equal(status, 200);
  assert.equal(body.result.agent["a.sinks.p.postgresql_host"], "db.example.org");
  assert.equal(body.result.agent["a.sources.s.port"], "5050");
  assert.equal(body.result.agent["a.sinks"], "p h q");
  assert.equal(body.result.agent["a.sinks.p.postgresql_password"], "***");
  assert.doesNotMatch(answered, new RegExp(SECRET));
});

test("one property is read, added, changed and removed, and the rest of the file is kept", async (context) => {
  const { ask, file, lines } = await configured(context);
  const port = "param=a.sources.s.port";
  const at = `/admin/configuration/agent${file}`;

  const one = await ask("GET", `${at}?${port}`);
  const exists = await ask("POST", `${at}?${port}&value=1`);
  const changed = await ask("PUT", `${at}?${port}&value=6060`);
  const added = await ask("POST", `${at}?param=a.sinks.p.rdb_schema&value=${encodeURIComponent("a\\u = #é")}`);
  const removed = await ask("DELETE", `${at}?param=a.sinks.q.anything`);
  const absent = await ask("DELETE", `${at}?param=a.sinks.q.anything`);

  assert.deepEqual(one.body, { success: "true", result: { "a.sources.s.port": "5050" } });
  assert.equal(exists.status, 400);
  assert.equal(exists.body.result.agent["a.sources.s.port"], "5050");
  assert.equal(changed.body.result.agent["a.sources.s.port"], "6060");
  assert.deepEqual([added.status, removed.status, absent.status], [200, 200, 400]);
  assert.deepEqual(absent.body.result, "Param 'a.sinks.q.anything' not found in the agent");
  const expected = text.replace("5050", "6060").replace(/^a\.sinks\.q\.anything.*\n/m, "");
  assert.equal(await readFile(file, "utf8"), `${expected}a.sinks.p.rdb_schema = a\\\\u \\= \\#é\n`);
  assert.doesNotMatch(JSON.stringify([lines, exists.text, changed.text, added.text]), new RegExp(SECRET));
});

test("two changes at the same time are both kept", async (context) => {
  const { ask, file } = await configured(context);

  await Promise.all(
    Array.from({ length: 10 }, (_, index) => ask("POST", `${agent}${file}?param=a.sinks.p.x${index}&value=1`)),
  );

  const { body } = await ask("GET", `${agent}${file}`);
  assert.equal(Object.keys(body.result.agent).filter((name) => name.startsWith("a.sinks.p.x")).length, 10);
});

test("calls that are wrong are refused in the words of the original and change nothing", async (context) => {
  const { ask, file } = await configured(context);
  const parse = (what: string, name: string) => ({
    error: `Parse error, ${what} parameter (${name}). Check it for errors`,
  });
  const cases = [
    { method: "GET", query: "?param=", body: parse("empty", "param_name") },
    { method: "GET", query: "?param=x", body: { result: "Param 'x' not found in the agent" } },
    { method: "POST", query: "", body: parse("missing", "param") },
    { method: "PUT", query: "?param=", body: parse("empty", "param") },
    { method: "PUT", query: "?param=a", body: parse("missing", "value") },
    { method: "PUT", query: "?param=a&value=", body: parse("empty", "value") },
    { method: "PUT", query: "?param=a%0ab&value=x", body: parse("wrong", "param") },
    { method: "PUT", query: "?param=a.b.c&value=x%0aa.sinks.p.type=y", body: parse("wrong", "value") },
    // U+FFFD is what stands in a text that was not UTF-8: with one in it, nobody could change the file by a call again.
    { method: "PUT", query: "?param=a.b.c&value=K%EF%BF%BDche", body: parse("wrong", "value") },
    { method: "POST", query: "?param=a.b.%EF%BF%BD&value=x", body: parse("wrong", "param") },
    { method: "DELETE", query: "", body: parse("missing", "param") },
  ];

  for (const { method, query, body } of cases) {
    const answer = await ask(method, `${agent}${file}${query}`);
    assert.deepEqual([answer.status, answer.body], [400, { success: "false", ...body }], `${method} ${query}`);
  }
  for (const path of [agent, `${agent}/`]) {
    const { status, body } = await ask("GET", path);
    assert.deepEqual([status, body.error], [404, `GET ${path} not found`]);
  }
  const masked = await ask("PUT", `${agent}${file}?param=a.sinks.p.postgresql_password&value=***`);

  assert.equal(masked.status, 400);
  assert.equal(await readFile(file, "utf8"), text);
});

test("a value that was not encoded as UTF-8 is refused, and the file stays one that can be changed", async (context) => {
  const { ask, file } = await configured(context);
  const unreadable = { success: "false", error: "Invalid parameter. The query is not UTF-8; write é as %C3%A9" };

  for (const query of ["?param=a.b.c&value=caf%E9", "?param=a.b.%e9&value=x", "?param=a.b.c&value=%ED%A0%80"]) {
    const answer = await ask("PUT", `${agent}${file}${query}`);
    assert.deepEqual([answer.status, answer.body], [400, unreadable], query);
  }
  assert.equal(await readFile(file, "utf8"), text);
  const [readable, percent] = [
    await ask("PUT", `${agent}${file}?param=a.b.c&value=caf%C3%A9`),
    await ask("PUT", `${agent}${file}?param=a.b.d&value=50%`),
  ];

  assert.deepEqual([readable.status, percent.status], [200, 200]);
  assert.match(await readFile(file, "utf8"), /^a\.b\.c = café\na\.b\.d = 50%$/m);
});

test("nothing outside of the folder is read or changed", async (context) => {
  const { ask, folder, file } = await configured(context);
  const outside = join(await tempFolder(context), "agent_out.conf");
  const other = join(folder, "secrets.conf");
  for (const one of [outside, other]) await writeFile(one, "x.sources.y.port = 1\n");
  await mkdir(join(folder, "agent_folder"));
  await symlink(outside, join(folder, "agent_link.conf"));
  await symlink(other, join(folder, "agent_other.conf"));
  await symlink(join(outside, ".."), join(folder, "sub"));
  await symlink("agent_loop.conf", join(folder, "agent_loop.conf"));
  await writeFile(join(folder, "agent_large.conf"), "");
  await truncate(join(folder, "agent_large.conf"), 1024 * 1024 + 1);
  const paths = [
    outside,
    other,
    `${folder}/agent_link.conf`,
    `${folder}/agent_other.conf`,
    `${folder}/agent_folder`,
    `${folder}/agent_loop.conf`,
    `${folder}/agent_large.conf`,
    `${folder}/agent_absent.conf`,
    `${folder}/sub/agent_out.conf`,
    `${folder}/../${folder.split("/").at(-1)}/agent_a.conf`,
    `${folder}/%2e%2e${outside}`,
    `${folder}/..%2f..${outside}`,
    `${folder}%2f..%2f..${outside}`,
    `/%2e%2e%2f${outside.slice(1)}`,
    `/${outside}`,
    `${folder}/agent_a.conf%00.txt`,
    `${folder}/agent_a.conf%2f..%2f..${outside}`,
    `${folder}/..%5cagent_a.conf`,
    `${folder}/agent_%e0%a4%a`,
    "/etc/passwd",
    "/proc/self/environ",
    "/dev/agent_x",
    "",
  ];

  for (const path of paths)
    for (const method of ["GET", "PUT", "POST", "DELETE"]) {
      const answer = await ask(method, `${agent}${path}?param=x.sources.y.port&value=2`);
      assert.ok(answer.status === 400 || answer.status === 404 || answer.status === 501, `${answer.status} ${path}`);
      assert.equal(answer.body.success, "false");
    }

  for (const one of [outside, other]) assert.equal(await readFile(one, "utf8"), "x.sources.y.port = 1\n");
  assert.equal(await readFile(file, "utf8"), text);
});

test("a link within the folder, and the file of the running agent, are files of the folder", async (context) => {
  const { ask, folder } = await configured(context);
  await mkdir(join(folder, "..data"));
  await writeFile(join(folder, "..data", "agent_b.conf"), "b.sources.s.port = 1\n");
  await symlink(join("..data", "agent_b.conf"), join(folder, "agent_b.conf"));
  await writeFile(join(folder, "running.properties"), "c.sources.s.port = 2\n");

  const linked = await ask("PUT", `${agent}${folder}/agent_b.conf?param=b.sources.s.port&value=3`);
  const running = await ask("GET", `${agent}${folder}/running.properties`);

  assert.equal(linked.status, 200);
  assert.equal(await readFile(join(folder, "..data", "agent_b.conf"), "utf8"), "b.sources.s.port = 3\n");
  assert.equal(running.status, 200);
});

test("a file in another encoding is not changed", async (context) => {
  const { ask, file } = await configured(context);
  const latin = Buffer.from("# caf\u00e9\na.b.c = 1\n", "latin1");
  await writeFile(file, latin);

  const answer = await ask("PUT", `${agent}${file}?param=a.b.d&value=1`);

  assert.equal(answer.status, 409);
  assert.deepEqual(await readFile(file), latin);
});

test("a file that is not valid is not changed", async (context) => {
  const { ask, file } = await configured(context);
  await writeFile(file, "a.b.c = \\uXYZ\n");

  const answer = await ask("PUT", `${agent}${file}?param=a.b.d&value=1`);

  assert.equal(answer.status, 409);
  assert.equal(await readFile(file, "utf8"), "a.b.c = \\uXYZ\n");
});

test("a file that cannot be written is 409 and unchanged", async (context) => {
  const { ask, folder } = await configured(context);
  // Room for the name, but not for that of the new file beside it.
  const file = join(folder, `agent_${"x".repeat(245)}`);
  await writeFile(file, text);

  const answer = await ask("PUT", `${agent}${file}?param=a.b.d&value=1`);

  assert.equal(answer.status, 409);
  assert.match(answer.body.error, /cannot be written/);
  assert.equal(await readFile(file, "utf8"), text);
});

for (const token of ["reader", "wrong", undefined])
  test(`with ${token ?? "no"} token nothing of a file is read or changed`, async (context) => {
    const { call, file } = await configured(context);
    const headers: Record<string, string> = token === undefined ? {} : { Authorization: `Bearer ${token}` };

    for (const method of ["GET", "PUT", "POST", "DELETE"]) {
      const { status, body } = await call(method, `${agent}${file}?param=a.b.c&value=1`, { headers });
      assert.equal(status, token === "reader" ? 403 : 401);
      if (token === "reader")
        assert.equal(body.error, "This token may only read counts and states. Use an admin token");
    }

    assert.equal(await readFile(file, "utf8"), text);
  });

test("without configured tokens nothing of a file is read or changed", async (context) => {
  const { call, file } = await configured(context, []);

  const { status, body } = await call("GET", `${agent}${file}`);

  assert.equal(status, 403);
  assert.match(body.error, /DENEB_MANAGEMENT_ADMIN_TOKENS/);
});

async function configured(context: TestContext, admin: readonly string[] = ["administrator"]) {
  const folder = await tempFolder(context);
  const file = join(folder, "agent_a.conf");
  await writeFile(file, text);
  const files = new AgentFiles(folder, join(folder, "running.properties"));
  const { call, lines } = await runningManagement(context, {
    configuration: { files, catalogue },
    access: { tokens: { read: admin.length === 0 ? [] : ["reader"], admin } },
  });
  const ask = (method: string, path: string) =>
    call(method, path, { headers: { Authorization: "Bearer administrator" } });
  return { ask, call, file, folder, lines };
}
