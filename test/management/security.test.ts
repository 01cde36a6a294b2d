import assert from "node:assert/strict";
import { once } from "node:events";
import { connect } from "node:net";
import { text } from "node:stream/consumers";
import { test } from "node:test";
import { DEAD_LETTERS } from "../../core/agent/container.js";
import { readSecurity, refuseUnusable } from "../../core/management/security/read-security.js";
import { WrongTokens } from "../../core/management/security/wrong-tokens.js";
import { AgentError } from "../../core/sdk/index.js";
import { selfSigned } from "../support/certificates.js";
import { recordingLog } from "../support/recording-log.js";
import { runningManagement } from "../support/running-management.js";

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

test("answers carry the security headers, and no header that tells what serves them", async (context) => {
  const { call } = await runningManagement(context);

  const { headers } = await call("GET", "/v1/version");

  assert.equal(headers.get("x-content-type-options"), "nosniff");
  assert.equal(headers.get("cache-control"), "no-store");
  assert.equal(headers.get("content-security-policy"), "default-src 'none'; frame-ancestors 'none'");
  assert.equal(headers.get("x-powered-by"), null);
  assert.equal(headers.get("strict-transport-security"), null);
});

const pageHeaders = [
  { "Sec-Fetch-Site": "cross-site" },
  { "Sec-Fetch-Site": "same-site" },
  { Origin: "http://elsewhere.example" },
  { Origin: "null" },
] as const;

for (const headers of pageHeaders)
  test(`a page cannot call the interface through a browser that sends ${JSON.stringify(headers)}`, async (context) => {
    const { call } = await runningManagement(context);

    const { status, body } = await call("PUT", "/v1/stats", { headers });

    assert.equal(status, 403);
    assert.equal(body.success, "false");
  });

test("over TLS only clients with a certificate of the client CA are served", async (context) => {
  const server = selfSigned("server");
  const client = selfSigned("client");
  const { call } = await runningManagement(context, { tls: { ...server, ca: client.cert } });

  const { status, headers } = await call("GET", "/v1/version", {
    tls: { ca: server.cert, key: client.key, cert: client.cert },
  });

  assert.equal(status, 200);
  assert.equal(headers.get("strict-transport-security"), "max-age=31536000");
  await assert.rejects(call("GET", "/v1/version", { tls: { ca: server.cert } }));
  await assert.rejects(call("GET", "/v1/version"));
});

const rawCases = [
  { name: "what is not HTTP", sent: "hello\r\n\r\n", status: 400 },
  { name: "a method that HTTP does not know", sent: "BREW / HTTP/1.1\r\nHost: a\r\n\r\n", status: 400 },
  { name: "headers beyond the limit", sent: `GET / HTTP/1.1\r\nX: ${"x".repeat(20_000)}\r\n\r\n`, status: 431 },
  { name: "CONNECT", sent: "CONNECT a:1 HTTP/1.1\r\nHost: a\r\n\r\n", status: 404 },
  {
    name: "an expectation",
    sent: "GET /v1/nothing HTTP/1.1\r\nHost: localhost\r\nExpect: tea\r\nConnection: close\r\n\r\n",
    status: 404,
  },
] as const;

for (const { name, sent, status } of rawCases)
  test(`${name} is answered ${status} in the envelope`, async (context) => {
    const { port } = await runningManagement(context);
    const socket = connect(port, "127.0.0.1");
    await once(socket, "connect");

    socket.write(sent);
    const answer = await text(socket);

    assert.ok(answer.startsWith(`HTTP/1.1 ${status} `), answer);
    assert.equal(JSON.parse(answer.slice(answer.indexOf("\r\n\r\n"))).success, "false");
  });

const settings = {
  managementReadTokens: [],
  managementReadTokensFile: "",
  managementAdminTokens: [],
  managementAdminTokensFile: "",
  managementTlsKey: "",
  managementTlsCertificate: "",
  managementTlsClientCa: "",
  brokerTargets: [],
};
const files = new Map([
  ["tokens", "one\ntwo\n"],
  ["empty", "\n"],
  ["key.pem", "k"],
  ["cert.pem", "c"],
  ["ca.pem", "a"],
]);
const readFile = (path: string): string => {
  const content = files.get(path);
  if (content === undefined) throw new Error(`no such file: ${path}`);
  return content;
};

const targetCases = [
  { given: {}, expected: [] },
  { given: { managementAdminTokens: ["t"] }, expected: [] },
  { given: { brokerTargets: ["orion"] }, expected: ["orion"] },
  { given: { brokerTargets: ["*"] }, expected: ["*"] },
] as const;

for (const { given, expected } of targetCases)
  test(`with ${JSON.stringify(given)} the brokers that may be called are [${expected}]`, () => {
    assert.deepEqual(readSecurity({ ...settings, ...given }, readFile).brokerTargets, expected);
  });

const hostCases = [
  { host: "127.0.0.1", status: 200 },
  { host: "127.0.0.1:5080", status: 200 },
  { host: "LOCALHOST:1", status: 200 },
  { host: "[::1]:5080", status: 200 },
  { host: "agent.example.org", status: 200 },
  { host: "Agent.Example.Org.:5080", status: 200 },
  { host: "a.inside.example", status: 200 },
  { host: "inside.example", status: 421 },
  { host: "evil.example", status: 421 },
  { host: "evil.example:5080", status: 421 },
  { host: "127.0.0.1.evil.example", status: 421 },
  { host: "localhost.evil.example", status: 421 },
  { host: "evil.example#localhost", status: 421 },
  { host: "evil.example@localhost", status: 421 },
  { host: "10.1.2.3", status: 421 },
  { host: "localhost:1:2", status: 421 },
] as const;

for (const { host, status } of hostCases)
  test(`a call that names host ${host} is answered ${status}, whatever it asks for`, async (context) => {
    const hosts = ["agent.example.org", "*.inside.example"];
    const { call } = await runningManagement(context, { access: { hosts } });

    for (const path of ["/v1/version", "/live", "/metrics"]) {
      const answer = await call("GET", path, { headers: { Host: host } });

      assert.equal(answer.status, status, path);
      if (status === 421) assert.match(answer.body.error, /--management-hosts or DENEB_MANAGEMENT_HOSTS/);
    }
  });

test("a read token does not see the events of dead letters, and makes no calls to brokers", async (context) => {
  const { call, container } = await runningManagement(context, { access: { tokens } });
  const event = { headers: {}, body: { secret: "of the notification" } };
  const letter = { id: "a", time: "2026-01-15T10:00:00.000Z", sink: "k1", message: "m", attempts: 1, event };
  await container.resolve(DEAD_LETTERS).keep([{ ...letter, reason: "permanent" }]);
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

test("wrong tokens are logged and counted without their text, and a right one is answered all the same", async (context) => {
  const { call, lines } = await runningManagement(context, { access: { tokens } });

  for (let n = 0; n < 3; n += 1) await call("GET", "/v1/stats", bearer("guess-work"));
  await call("GET", "/v1/stats");
  const right = await call("GET", "/v1/stats", bearer("reader"));
  const { text: metrics } = await call("GET", "/metrics", bearer("reader"));

  assert.equal(right.status, 200);
  assert.match(metrics, /^deneb_management_wrong_tokens_total 3$/m);
  const warned = lines.filter(({ message }) => message === "wrong management tokens").map(({ fields }) => fields);
  assert.deepEqual(warned, [
    { address: "127.0.0.1", tries: 1 },
    { address: "127.0.0.1", tries: 2 },
  ]);
  assert.doesNotMatch(JSON.stringify(lines), /guess-work/);
});

test("each wrong token of an address waits longer, others do not, and a network of IPv6 is one address", async () => {
  const waits: number[] = [];
  const wait = async (milliseconds: number) => {
    waits.push(milliseconds);
  };
  let now = 0;
  const wrong = new WrongTokens({ log: recordingLog().log, count: () => {}, uptime: () => now, wait });
  const { signal } = new AbortController();

  for (let n = 0; n < 10; n += 1) await wrong.held("10.0.0.1", signal);
  const ofOne = waits.splice(0);
  await wrong.held("10.0.0.2", signal);
  for (let n = 0; n < 4; n += 1) await wrong.held(`2001:db8::1:${n}`, signal);
  await wrong.held("2001:db8:0:0:ffff::1", signal);
  const ofOthers = waits.splice(0);
  now = 16 * 60_000;
  await wrong.held("10.0.0.1", signal);

  assert.deepEqual(ofOne, [250, 500, 1000, 2000, 4000, 5000, 5000]);
  assert.deepEqual(ofOthers, [250, 500]);
  assert.deepEqual(waits, []);
});

test("no more than a hundred answers to wrong tokens are held back at once, whoever sends them", async () => {
  let end = () => {};
  const held = new Promise<void>((resolve) => {
    end = resolve;
  });
  const wrong = new WrongTokens({ log: recordingLog().log, count: () => {}, uptime: () => 0, wait: () => held });
  const { signal } = new AbortController();
  for (let n = 0; n < 3; n += 1) await wrong.held("10.0.0.1", signal);

  const waiting = Array.from({ length: 100 }, () => wrong.held("10.0.0.1", signal));
  const beyond = await wrong.held("10.0.0.1", signal);
  end();

  assert.equal(beyond, false);
  assert.ok((await Promise.all(waiting)).every((answered) => answered));
});

test("tokens of the environment and of a file count together", () => {
  const given = { ...settings, managementReadTokens: ["zero"], managementReadTokensFile: "tokens" };

  assert.deepEqual(readSecurity(given, readFile).tokens, { read: ["zero", "one", "two"], admin: [] });
});

test("PEM files that no server can use are refused, with code TLS_UNUSABLE", () => {
  assert.throws(
    () => refuseUnusable({ key: "no key", cert: "no certificate", ca: undefined }),
    (error) => error instanceof AgentError && error.code === "TLS_UNUSABLE",
  );
});

const wrongSettings = [
  { given: { managementAdminTokensFile: "empty" }, code: "NO_TOKENS" },
  { given: { managementAdminTokensFile: "missing" }, code: "FILE_UNREADABLE" },
  { given: { managementTlsKey: "key.pem" }, code: "TLS_INCOMPLETE" },
  { given: { managementTlsClientCa: "ca.pem" }, code: "TLS_INCOMPLETE" },
] as const;

for (const { given, code } of wrongSettings)
  test(`${JSON.stringify(given)} does not start, with code ${code}`, () => {
    assert.throws(
      () => readSecurity({ ...settings, ...given }, readFile),
      (error) => error instanceof AgentError && error.code === code,
    );
  });
