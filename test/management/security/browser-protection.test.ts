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
});

const own = { Origin: "http://127.0.0.1:5080", Host: "127.0.0.1:5080" };

const pageCases = [
  { headers: { "Sec-Fetch-Site": "cross-site" }, status: 403 },
  { headers: { "Sec-Fetch-Site": "same-site" }, status: 403 },
  { headers: { Origin: "http://elsewhere.example" }, status: 403 },
  { headers: { Origin: "null" }, status: 403 },
  { headers: { ...own, "Sec-Fetch-Site": "cross-site" }, status: 403 },
  { headers: { ...own, Origin: "http://127.0.0.1:5081" }, status: 403 },
  { headers: { ...own, Origin: "http://localhost:5080" }, status: 403 },
  { headers: { ...own, Origin: "http://127.0.0.1:5080.evil.example" }, status: 403 },
  { headers: { ...own, Origin: "ftp://127.0.0.1:5080" }, status: 403 },
  { headers: own, status: 200 },
  { headers: { ...own, "Sec-Fetch-Site": "same-origin" }, status: 200 },
  // A proxy that ends TLS and passes the header Host on.
  { headers: { ...own, Origin: "https://127.0.0.1:5080" }, status: 200 },
] as const;

for (const { headers, status } of pageCases) {
  const isOwn = status === 200 ? "the page of the interface" : "a page of another site";
  test(`${isOwn} that sends ${JSON.stringify(headers)} is answered ${status}`, async (context) => {
    const { call } = await runningManagement(context);

    const answer = await call("PUT", "/v1/stats", { headers });

    assert.equal(answer.status, status);
  });
}

test("without a page of its own the interface refuses every call of a page", async (context) => {
  const { call } = await runningManagement(context, { access: { page: false } });

  for (const headers of [own, { ...own, "Sec-Fetch-Site": "same-origin" }, { "Sec-Fetch-Site": "cross-site" }]) {
    const { status } = await call("PUT", "/v1/stats", { headers });

    assert.equal(status, 403);
  }
});

test("a form of another site changes nothing, whatever its encoding and method", async (context) => {
  const { call } = await runningManagement(context);
  const types = ["application/x-www-form-urlencoded", "text/plain", "multipart/form-data; boundary=b"];

  for (const type of types) {
    const headers = { Origin: "http://elsewhere.example", "Sec-Fetch-Site": "cross-site", "Content-Type": type };
    for (const path of ["/v1/admin/reload", "/v1/admin/deadletters/replay", "/ui/"]) {
      const { status } = await call("POST", path, { headers, body: "{}" });

      assert.equal(status, 403, `${path} ${type}`);
    }
  }
});

const navigation = { "Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate" };

const openings = [
  { path: "/ui/", headers: { ...navigation, "Sec-Fetch-Dest": "document" }, status: 200 },
  { path: "/ui", headers: { ...navigation, "Sec-Fetch-Dest": "document" }, status: 308 },
  { path: "/ui/", headers: { ...navigation, "Sec-Fetch-Dest": "iframe" }, status: 403 },
  { path: "/ui/main.js", headers: { "Sec-Fetch-Site": "cross-site", "Sec-Fetch-Dest": "script" }, status: 403 },
  { path: "/v1/stats", headers: { ...navigation, "Sec-Fetch-Dest": "document" }, status: 403 },
] as const;

for (const { path, headers, status } of openings)
  test(`a link of another site to ${path}, opened as ${headers["Sec-Fetch-Dest"]}, is answered ${status}`, async (context) => {
    const { call } = await runningManagement(context);

    const answer = await call("GET", path, { headers });

    assert.equal(answer.status, status);
  });

test("with any host allowed a page needs a token, or a host that is this machine", async (context) => {
  const headers = { Host: "name.evil.example", Origin: "http://name.evil.example", "Sec-Fetch-Site": "same-origin" };
  const any = await runningManagement(context, { access: { hosts: ["*"] } });
  const tokens = { read: [], admin: ["secret"] };
  const guarded = await runningManagement(context, { access: { hosts: ["*"], tokens } });

  const refused = await any.call("PUT", "/v1/stats", { headers });
  const local = await any.call("PUT", "/v1/stats", { headers: own });
  const withToken = await guarded.call("PUT", "/v1/stats", { headers: { ...headers, Authorization: "Bearer secret" } });

  assert.equal(refused.status, 403);
  assert.match(refused.body.error, /--management-hosts/);
  assert.equal(local.status, 200);
  assert.equal(withToken.status, 200);
});

test("over TLS only a page that came over TLS may call", async (context) => {
  const { call } = await runningManagement(context, { access: { tls: true } });

  const plain = await call("PUT", "/v1/stats", { headers: own });
  const secure = await call("PUT", "/v1/stats", { headers: { ...own, Origin: "https://127.0.0.1:5080" } });

  assert.equal(plain.status, 403);
  assert.equal(secure.status, 200);
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
  { host: "[fe80::1]:5080", status: 200 },
  { host: "[fe80::1%eth0]:5080", status: 200 },
  { host: "[fe80::1%25wlan0]", status: 200 },
  { host: "[fe80::2%eth0]:5080", status: 421 },
  { host: "[fe80::1%]:5080", status: 421 },
  { host: "localhost:1:2", status: 421 },
] as const;

for (const { host, status } of hostCases)
  test(`a call that names host ${host} is answered ${status}, whatever its path`, async (context) => {
    const hosts = ["agent.example.org", "*.inside.example", "fe80::1%eth0"];
    const { call } = await runningManagement(context, { access: { hosts } });

    for (const path of ["/v1/version", "/live", "/metrics"]) {
      const answer = await call("GET", path, { headers: { Host: host } });

      assert.equal(answer.status, status, path);
      if (status === 421) assert.match(answer.body.error, /--management-hosts or DENEB_MANAGEMENT_HOSTS/);
    }
  });
