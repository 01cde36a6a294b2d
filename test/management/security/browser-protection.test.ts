import assert from "node:assert/strict";
import { test } from "node:test";
import { runningManagement } from "../../support/running-management.js";

test("answers carry the security headers, and no header that names the software", async (context) => {
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
  test(`a call that names host ${host} is answered ${status}, whatever its path`, async (context) => {
    const hosts = ["agent.example.org", "*.inside.example"];
    const { call } = await runningManagement(context, { access: { hosts } });

    for (const path of ["/v1/version", "/live", "/metrics"]) {
      const answer = await call("GET", path, { headers: { Host: host } });

      assert.equal(answer.status, status, path);
      if (status === 421) assert.match(answer.body.error, /--management-hosts or DENEB_MANAGEMENT_HOSTS/);
    }
  });
