import assert from "node:assert/strict";
import { test } from "node:test";
import { refused, startManagement } from "../../support/management.js";
import { runningManagement } from "../../support/running-management.js";

for (const path of ["/admin/log", "/v1/admin/log"])
  test(`${path} reads and sets the level of the root logger, with the answers of the original`, async (context) => {
    const { call, console, logging } = await startManagement(context);
    const log = logging.loggers.of("x");

    const before = await call("GET", path);
    const set = await call("PUT", `${path}?level=debug`);
    log.debug({}, "shown");
    const after = await call("GET", path);
    await call("PUT", `${path}?level=ERROR`);
    log.warn({}, "not shown");

    assert.deepEqual(before, { status: 200, body: { level: "INFO" } });
    assert.deepEqual(set, { status: 200, body: { success: "log4j logging level updated to DEBUG" } });
    assert.deepEqual(after, { status: 200, body: { level: "DEBUG" } });
    assert.equal(console.length, 1);
  });

test("the documented level WARNING is WARN", async (context) => {
  const { call } = await startManagement(context);

  const set = await call("PUT", "/admin/log?level=WARNING");

  assert.deepEqual(set.body, { success: "log4j logging level updated to WARN" });
  assert.deepEqual((await call("GET", "/admin/log")).body, { level: "WARN" });
});

for (const query of ["", "?level=", "?level=LOUD", "?level=constructor", "?level=DEBUG%20INFO"])
  test(`PUT /admin/log${query} is refused and changes nothing`, async (context) => {
    const { call } = await startManagement(context);

    assert.deepEqual(await call("PUT", `/admin/log${query}`), refused({ error: "Invalid log level" }));
    assert.deepEqual((await call("GET", "/admin/log")).body, { level: "INFO" });
  });

test("the level is shown after the root logger was removed", async (context) => {
  const { call } = await startManagement(context);

  await call("PUT", "/admin/log?level=DEBUG");
  await call("DELETE", "/v1/admin/log/loggers");

  assert.deepEqual((await call("GET", "/admin/log")).body, { level: "INFO" });
});

test("a read token reads the level, an admin token sets it", async (context) => {
  const { call } = await runningManagement(context, { access: { tokens: { read: ["r"], admin: ["a"] } } });
  const statuses: number[] = [];

  for (const token of ["r", "a", "x"])
    for (const [method, path] of [
      ["GET", "/admin/log"],
      ["PUT", "/admin/log?level=DEBUG"],
    ] as const)
      statuses.push((await call(method, path, { headers: { Authorization: `Bearer ${token}` } })).status);

  assert.deepEqual(statuses, [200, 403, 200, 200, 401, 401]);
});

const replaced = [
  {
    call: "GET /v1/admin/configuration/agent/usr/cygnus/conf/agent_ngsi.conf",
    status: 501,
    names: /--management-configuration-folder/,
  },
  {
    call: "PUT /admin/configuration/agent/etc/agent_x?param=a&value=b",
    status: 501,
    names: /DENEB_MANAGEMENT_CONFIGURATION_FOLDER/,
  },
  {
    call: "GET /v1/admin/configuration/instance/usr/cygnus/conf/cygnus_instance.conf",
    status: 501,
    names: /deneb run/,
  },
  { call: "DELETE /admin/configuration/instance/x", status: 501, names: /deneb run/ },
  { call: "GET /v1/groupingrules", status: 501, names: /\/v1\/namemappings/ },
  { call: "DELETE /v1/groupingrules?id=1", status: 501, names: /\/v1\/namemappings/ },
  { call: "GET /", status: 404, names: /\/openapi\.json/ },
  { call: "GET /gui/points", status: 404, names: /GET \/metrics/ },
  { call: "GET /stats", status: 404, names: /GET \/v1\/stats/ },
];

for (const { call: line, status, names } of replaced)
  test(`${line} is answered ${status} with what replaces it`, async (context) => {
    const { call } = await runningManagement(context);
    const [method = "", path = ""] = line.split(" ");

    const answer = await call(method, path);

    assert.equal(answer.status, status);
    assert.equal(answer.body.success, "false");
    assert.ok(answer.body.error.startsWith(`${method} ${path.replace(/\?.*/, "")} not `), answer.body.error);
    assert.match(answer.body.error, names);
  });
