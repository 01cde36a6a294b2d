import assert from "node:assert/strict";
import { chmod, readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { type TestContext, test } from "node:test";
import { httpAgent } from "../support/http-agent.js";
import { runCli, runHere } from "../support/run-cli.js";
import { tempFolder } from "../support/temp-folder.js";
import { writeFiles } from "../support/written-files.js";

const permissions = `permissions: { hosts: ["{url}", "*.example.org"], folders: [], childProcesses: false }`;

function plugin(more: string): string {
  return `import { definePlugin } from "deneb/sdk";
    export default definePlugin({
      kind: "interceptor", type: "mine", summary: "Does.", stability: "beta",
      config: { url: { doc: "Where.", format: "text", resource: "url", default: "http://a.example.org/" },
        dirs: { doc: "Where.", format: "words", resource: "folder", default: [] } },
      create: () => ({ intercept: (event) => event }), ${more}
    });`;
}

const manifest =
  '{ "name": "deneb-plugin-mine", "type": "module", "keywords": ["deneb-plugin"], "exports": "./lib/main.js" }';

async function packageIn(context: TestContext, more = permissions): Promise<string> {
  const folder = await tempFolder(context);
  await writeFiles(folder, { "package.json": manifest, "lib/main.js": plugin(more) });
  return folder;
}

test("plugin test writes a report, and plugins shows it with versions and permissions", async (context) => {
  const folder = await packageIn(context);

  const tested = await runCli(["plugin", "test", folder, "--report", path.join(folder, "deneb-report.json")]);
  const listed = await runHere(["plugins", "--plugins", folder]);

  assert.equal(tested.code, 0, tested.stderr);
  const report = JSON.parse(await readFile(path.join(folder, "deneb-report.json"), "utf8"));
  assert.equal(report.plugins[0].failed, 0);
  assert.equal(report.plugins[0].passed, report.plugins[0].cases.length);
  assert.deepEqual(Object.keys(report.files), ["lib/main.js"]);
  assert.match(listed.stdout, /^interceptor mine\n {2}made for: version 1 of deneb\/sdk$/m);
  assert.match(listed.stdout, /^ {2}tested: \d+ passed, 0 failed with Deneb \S+, \d{4}-\d\d-\d\d, by its author$/m);
  assert.match(
    listed.stdout,
    /^ {2}permissions: hosts: what "url" says, \*\.example\.org; no folders; no other programs$/m,
  );
});

test("plugins and check judge the plugins of others only", async (context) => {
  const folder = await packageIn(context);
  const file = path.join(folder, "a.properties");
  await writeFiles(folder, { "a.properties": httpAgent({ channel: "memory", sink: "logger" }) });

  const listed = await runHere(["plugins", "--plugins", folder]);
  const checkedFile = await runHere(["check", "-f", file, "--plugins", folder]);

  assert.deepEqual(listed.stdout.match(/^\S+ \S+\n {2}made for/gm), ["interceptor mine\n  made for"]);
  assert.equal(checkedFile.stdout, `${file}: agent "a" is valid: 1 source(s), 1 channel(s), 1 sink(s)\n`);
});

const otherCode = [
  {
    says: "whose file changed",
    file: "lib/main.js",
    text: `${plugin(permissions)} // changed`,
    shown: /is for other code: "lib\/main\.js" was not tested/,
  },
  {
    says: "that has a further file",
    file: "lib/more.js",
    text: "",
    shown: /is for other code: "lib\/more\.js" was not tested/,
  },
  {
    says: "whose report is no JSON",
    file: "deneb-report.json",
    text: "{",
    shown: /its deneb-report\.json cannot be read: /,
  },
  {
    says: "whose report is of another",
    file: "deneb-report.json",
    text: '{"report":1,"plugins":[]}',
    shown: /says nothing of this plugin/,
  },
] as const;
for (const { says, file, text, shown } of otherCode)
  test(`the report of a package ${says} does not count`, async (context) => {
    const folder = await packageIn(context);
    await runCli(["plugin", "test", folder, "--report", path.join(folder, "deneb-report.json")]);
    await writeFiles(folder, { [file]: text });

    const { stdout } = await runHere(["plugins", "--plugins", folder]);

    assert.match(stdout, shown);
    assert.doesNotMatch(stdout, /passed/);
  });

const wrongPermissions = [
  { more: "permissions: {}", says: /"permissions" is not an object such as/ },
  { more: 'permissions: { hosts: ["http://x/"], folders: [], childProcesses: false }', says: /"permissions" is not/ },
  { more: 'permissions: { hosts: [], folders: ["data"], childProcesses: false }', says: /"permissions" is not/ },
  {
    more: 'permissions: { hosts: ["{uri}"], folders: [], childProcesses: false }',
    says: /permission "\{uri\}" names no property/,
  },
] as const;
for (const { more, says } of wrongPermissions)
  test(`a plugin that declares ${more} is left out`, async (context) => {
    const { stderr } = await runHere(["plugins", "--plugins", await packageIn(context, more)]);

    assert.match(stderr, says);
  });

async function checked(context: TestContext, lines: readonly string[], more?: string) {
  const folder = await packageIn(context, more);
  const file = path.join(folder, "a.properties");
  await writeFile(file, httpAgent({ channel: "memory", sink: "logger", lines }));
  return await runHere(["check", "--config", file, "--plugins", folder]);
}

const mine = ["a.sources.http-source.interceptors = i", "a.sources.http-source.interceptors.i.type = mine"] as const;
const narrow = 'permissions: { hosts: ["*.example.org"], folders: [], childProcesses: true }';

test("check shows the permissions of the plugins of others that a file uses", async (context) => {
  const { stdout, code } = await checked(context, mine);

  assert.equal(code, 0);
  assert.match(
    stdout,
    /^permissions of interceptor mine: hosts: what "url" says, \*\.example\.org; no folders; no other programs$/m,
  );
});

test("check says of a plugin without declared permissions that it is permissions that it lacks", async (context) => {
  const { stdout } = await checked(context, mine, "");

  assert.match(stdout, /^permissions of interceptor mine: it declares none; it may do what the agent may$/m);
});

test("check refuses a configured host that the plugin does not declare, and accepts one that it does", async (context) => {
  const url = (host: string) => [...mine, `a.sources.http-source.interceptors.i.url = http://${host}:80/x`];

  const strange = await checked(context, url("evil.org"), narrow);
  const known = await checked(context, url("B.example.org"), narrow);
  const like = await checked(context, url("notexample.org"), narrow);

  assert.equal(strange.code, 2);
  assert.match(
    strange.stderr,
    /line 15: a\.sources\.http-source\.interceptors\.i\.url = "http:\/\/evil\.org:80\/x": leads to the host "evil\.org"; the plugin interceptor "mine" declares that it uses the hosts \*\.example\.org: correct the value/,
  );
  assert.equal(known.code, 0, known.stderr);
  assert.equal(like.code, 2);
});

const folders = [
  { says: "below a declared one", dirs: "/srv/data /srv/data/x", code: 0 },
  { says: "beside a declared one", dirs: "/srv/data/../secret", code: 2 },
  { says: "whose name only begins like a declared one", dirs: "/srv/data /srv/data-of-others", code: 2 },
] as const;
for (const { says, dirs, code } of folders)
  test(`check of a configured folder ${says} ends with ${code}`, async (context) => {
    const more = 'permissions: { hosts: ["{url}"], folders: ["/srv/data"], childProcesses: false }';

    const result = await checked(context, [...mine, `a.sources.http-source.interceptors.i.dirs = ${dirs}`], more);

    assert.equal(result.code, code, result.stderr);
    if (code === 2)
      assert.match(result.stderr, /dirs = .*: leads to the folder "\/srv\/\S+"; .* uses the folders \/srv\/data:/);
  });

test("check of an unknown type says how to find and load a plugin of others", async (context) => {
  const { stderr, code } = await checked(context, ["a.channels.c.type = pulsar"]);

  assert.equal(code, 2);
  assert.match(
    stderr,
    /is no known type of channel; known: .*; "deneb plugins search pulsar" finds packages of others, --plugin-packages loads an installed one, by convention deneb-plugin-pulsar, and --plugins one in a folder; an agent that runs knows those of its start/,
  );
});

const found = [
  {
    name: "deneb-plugin-redis",
    version: "1.2.0",
    date: "2026-02-03T04:05:06.000Z",
    description: "Redis\u001b[31m sink",
    keywords: ["deneb-plugin"],
  },
  { name: "other", version: "1.0.0", description: "none", keywords: ["x"] },
];

const searches = [
  {
    says: "lists what has the keyword",
    script: `echo '${JSON.stringify(found)}'`,
    code: 0,
    shown: /deneb-plugin-redis +│? *1\.2\.0.*2026-02-03/,
    hides: /\bother\b/,
  },
  {
    says: "says that nothing was found",
    script: "echo '[]'",
    code: 0,
    shown: /npm finds no package with the keyword deneb-plugin and these words/,
  },
  {
    says: "tells what npm tells when the registry is away",
    script: `echo '{"error":{"code":"ENOTFOUND","summary":"getaddrinfo failed"}}'; exit 1`,
    code: 1,
    shown: /searching for plugins with npm: it failed: getaddrinfo failed; see that "npm search" works here/,
  },
  {
    says: "refuses rubbish",
    script: "echo '<html>hello'",
    code: 1,
    shown: /it answered "<html>hello\\n", which is no list of packages/,
  },
  { says: "refuses an answer without an end", script: "yes", code: 1, shown: /it answered too much/ },
] as const;
for (const { says, script, code, shown, ...others } of searches)
  test(`plugins search ${says}`, async (context) => {
    const folder = await tempFolder(context);
    await writeFiles(folder, { npm: `#!/bin/sh\necho "$@" > "${folder}/asked"\n${script}\n` });
    await chmod(path.join(folder, "npm"), 0o755);

    const result = await runHere(["plugins", "search", "redis", "--", "--offline"], {
      PATH: `${folder}:${process.env["PATH"]}`,
    });

    assert.equal(result.code, code, result.stderr);
    assert.match(`${result.stdout}${result.stderr}`, shown);
    assert.ok(!result.stdout.includes(String.fromCharCode(27)), "no control character of a stranger is printed");
    if ("hides" in others) assert.doesNotMatch(result.stdout, others.hides);
    assert.match(await readFile(path.join(folder, "asked"), "utf8"), / -- keywords:deneb-plugin redis --offline$/m);
  });

test("plugins search without npm says so", async (context) => {
  const { code, stderr } = await runHere(["plugins", "search"], { PATH: await tempFolder(context) });

  assert.equal(code, 1);
  assert.match(stderr, /searching for plugins with npm: npm is not found; install it/);
});
