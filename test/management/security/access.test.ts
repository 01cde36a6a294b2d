import assert from "node:assert/strict";
import { test } from "node:test";
import { DEAD_LETTERS } from "../../../core/agent/container.js";
import { runningManagement } from "../../support/running-management.js";

const tokens = { read: ["reader", "reader-2"], admin: ["administrator"] };
const bearer = (token: string) => ({ headers: { Authorization: `Bearer ${token}` } });

const accessCases = [
  { method: "GET", path: "/v1/stats", call: {}, status: 401 },
  { method: "GET", path: "/v1/stats", call: bearer("wrong"), status: 401 },
  { method: "GET", path: "/v1/stats", call: bearer("reade"), status: 401 },
  { method: "GET", path: "/v1/stats", call: { headers: { Authorization: "Basic reader" } }, status: 401 },
  { method: "GET", path: "/v1/stats", call: bearer("reader"), status: 200 },
  { method: "GET", path: "/v1/stats", call: bearer("reader-2"), status: 200 },
  { method: "GET", path: "/v1/stats", call: bearer("administrator"), status: 200 },
  { method: "PUT", path: "/v1/stats", call: {}, status: 401 },
  { method: "PUT", path: "/v1/stats", call: bearer("reader"), status: 403 },
  { method: "PUT", path: "/v1/stats", call: bearer("administrator"), status: 200 },
  { method: "GET", path: "/v1/admin/metrics?reset=true", call: bearer("reader"), status: 403 },
  { method: "GET", path: "/v1/admin/metrics?reset=true", call: bearer("administrator"), status: 200 },
  { method: "GET", path: "/metrics", call: {}, status: 401 },
  { method: "GET", path: "/nothing", call: {}, status: 401 },
  { method: "GET", path: "/nothing", call: bearer("reader"), status: 404 },
  { method: "GET", path: "/live", call: {}, status: 200 },
  { method: "GET", path: "/ready", call: {}, status: 200 },
  { method: "POST", path: "/live", call: {}, status: 401 },
  { method: "HEAD", path: "/live", call: {}, status: 401 },
  { method: "HEAD", path: "/v1/stats", call: bearer("reader"), status: 404 },
] as const;

for (const { method, path, call: given, status } of accessCases)
  test(`with tokens, ${method} ${path} with ${JSON.stringify(given)} is answered ${status}`, async (context) => {
    const { call } = await runningManagement(context, { access: { tokens } });

    const answer = await call(method, path, given);

    assert.equal(answer.status, status);
    assert.equal(answer.headers.get("www-authenticate"), status === 401 ? 'Bearer realm="deneb"' : null);
    if (status > 400 && method !== "HEAD") assert.equal(answer.body.success, "false");
  });

test("each changing call leaves one audit line, without bodies, tokens and unknown parameters", async (context) => {
  const { call, lines } = await runningManagement(context, { access: { tokens } });
  const headers = { Authorization: "Bearer administrator", "Fiware-Correlator": "c1" };

  await call("PUT", "/v1/stats?name=n&password=hidden", { headers, body: "hidden" });
  await call("PUT", "/v1/stats", bearer("reader"));
  await call("GET", "/v1/stats", { headers });

  const audited = lines.filter(({ message }) => message === "management call");
  assert.deepEqual(
    audited.map(({ level, fields }) => ({ level, ...JSON.parse(JSON.stringify(fields)) })),
    [
      {
        level: "info",
        method: "PUT",
        path: "/v1/stats",
        parameters: { name: "n" },
        status: 200,
        role: "admin",
        address: "127.0.0.1",
        correlator: "c1",
      },
      {
        level: "info",
        method: "PUT",
        path: "/v1/stats",
        parameters: {},
        status: 403,
        role: "read",
        address: "127.0.0.1",
        correlator: Reflect.get(audited[1]?.fields ?? {}, "correlator"),
      },
    ],
  );
  assert.doesNotMatch(JSON.stringify(lines), /hidden|administrator|Bearer/);
});

test("a read token does not see the events of dead letters, and makes no calls to brokers", async (context) => {
  const { call, container } = await runningManagement(context, { access: { tokens } });
  const event = { headers: {}, body: { secret: "of the notification" } };
  const deadLetter = { id: "a", time: "2026-01-15T10:00:00.000Z", sink: "k1", message: "m", attempts: 1, event };
  await container.resolve(DEAD_LETTERS).keep([{ ...deadLetter, reason: "permanent" }]);
  const paths = ["/v1/admin/deadletters/a", "/v1/admin/deadletters/a/", "/v1/subscriptions", "/v1/subscriptions/?x"];

  const read = await Promise.all(paths.map((path) => call("GET", path, bearer("reader"))));
  const admin = await Promise.all(paths.map((path) => call("GET", path, bearer("administrator"))));
  const list = await call("GET", "/v1/admin/deadletters", bearer("reader"));

  assert.deepEqual(
    read.map(({ status }) => status),
    [403, 403, 403, 403],
  );
  assert.deepEqual(
    admin.map(({ status }) => status),
    [200, 200, 400, 400],
  );
  assert.equal(list.status, 200);
  assert.doesNotMatch(list.text, /of the notification/);
});
