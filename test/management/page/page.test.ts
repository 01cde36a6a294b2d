import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { test } from "node:test";
import { gunzipSync } from "node:zlib";
import { runningManagement } from "../../support/running-management.js";

test("the page and all files that it names are served without a token, and hold nothing of the agent", async (context) => {
  const { port } = await runningManagement(context, { access: { tokens: { read: ["r"], admin: ["a"] } } });
  const base = `http://127.0.0.1:${port}/ui/`;

  const html = await (await fetch(base)).text();
  const names = [...html.matchAll(/(?:href|src)="([^"]+)"/g)].map(([, name = ""]) => name);
  const answers = await Promise.all(names.map(async (name) => (await fetch(new URL(name, base))).status));

  assert.ok(names.includes("main.js") && names.includes("lib/preact.js") && names.includes("page.css"));
  assert.deepEqual(new Set(answers), new Set([200]));
  assert.doesNotMatch(html, /k1|c1|s1/);
});

test("its policy allows the import map by its hash, and no other script, style or address in the document", async (context) => {
  const { call } = await runningManagement(context);

  const { headers, text } = await call("GET", "/ui/");

  const [, map = ""] = /<script type="importmap">(.*?)<\/script>/.exec(text) ?? [];
  const hash = createHash("sha256").update(map).digest("base64");
  const policy = headers.get("content-security-policy") ?? "";
  assert.match(policy, /^default-src 'none'; /);
  assert.ok(policy.includes(`script-src 'self' 'sha256-${hash}';`), policy);
  assert.doesNotMatch(policy, /unsafe|\*|http/);
  assert.equal(headers.get("x-frame-options"), "DENY");
  assert.equal(headers.get("x-content-type-options"), "nosniff");
  assert.doesNotMatch(text, /https?:/);
});

test("the import map names every package that a module of the page imports", async (context) => {
  const { call } = await runningManagement(context);
  const { text } = await call("GET", "/ui/");
  const [, map = "{}"] = /<script type="importmap">(.*?)<\/script>/.exec(text) ?? [];
  const modules = [...text.matchAll(/modulepreload" href="([^"]+)"/g)].map(([, name = ""]) => name);
  const later = ["views/overview/overview.js", "views/dead-letters/letters.js", "views/arrivals/arrivals.js"];

  const sources = await Promise.all(
    [...modules, ...later].map(async (name) => (await call("GET", `/ui/${name}`)).text),
  );

  const imported = sources.flatMap((source) =>
    [...source.matchAll(/from ?"([^".][^"]*)"/g)].map(([, name = ""]) => name),
  );
  assert.deepEqual([...new Set(imported)].sort(), Object.keys(JSON.parse(map).imports).sort());
});

test("a browser that has the current file is answered 304, one that takes gzip gets it compressed", async (context) => {
  const { call, port } = await runningManagement(context);
  const { headers, text } = await call("GET", "/ui/main.js");

  const again = await call("GET", "/ui/main.js", { headers: { "If-None-Match": headers.get("etag") ?? "" } });
  const compressed = await fetch(`http://127.0.0.1:${port}/ui/main.js`, { headers: { "Accept-Encoding": "gzip" } });

  assert.equal(again.status, 304);
  assert.equal(again.text, "");
  assert.equal(compressed.headers.get("content-encoding"), "gzip");
  assert.equal(await compressed.text(), text);
  assert.throws(() => gunzipSync(text));
});

const noFiles = [
  "/ui/nothing.js",
  "/ui/../package.json",
  "/ui/%2e%2e/page-files.js",
  "/ui/lib/",
  "/ui/main.tsx",
] as const;

for (const path of noFiles)
  test(`GET ${path} is no file of the page`, async (context) => {
    const { call } = await runningManagement(context);

    const { status, body } = await call("GET", path);

    assert.equal(status, 404);
    assert.equal(body.success, "false");
  });

test("/ui leads to /ui/ by an address that a path prefix of a proxy does not break", async (context) => {
  const { call } = await runningManagement(context);

  const { status, headers } = await call("GET", "/ui");

  assert.equal(status, 308);
  assert.equal(headers.get("location"), "ui/");
});

test("a page that is switched off is answered 404 with the option", async (context) => {
  const { call } = await runningManagement(context, { access: { page: false } });

  for (const path of ["/ui", "/ui/", "/ui/main.js"]) {
    const { status, body } = await call("GET", path);

    assert.equal(status, 404, path);
    assert.match(body.error, /--management-page true/);
  }
});
