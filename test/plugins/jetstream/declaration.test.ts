import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import path from "node:path";
import { test } from "node:test";
import { pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { installed } from "../../../plugins/jetstream/client.js";
import { checkJetStream } from "../../../plugins/jetstream/config.js";
import { repositoryRoot } from "../../support/repository.js";
import { tempFolder } from "../../support/temp-folder.js";
import { writeFiles } from "../../support/written-files.js";
import { configOf } from "./nats.js";

const faulty = [
  { given: {}, properties: [] },
  { given: { servers: [] }, properties: ["servers"] },
  { given: { servers: ["nats-1", "nats-2:4223", "tls://[::1]:4222", "nats://nats.example.org"] }, properties: [] },
  { given: { servers: ["http://nats:4222"] }, properties: ["servers"] },
  { given: { servers: ["nats://me:secret@nats:4222"] }, properties: ["servers"] },
  { given: { servers: ["nats://nats:4222/path", "nats://nats:x"] }, properties: ["servers", "servers"] },
  { given: { stream: "" }, properties: ["stream"] },
  { given: { stream: "a.b" }, properties: ["stream"] },
  { given: { stream: "a b" }, properties: ["stream"] },
  { given: { stream: "a*" }, properties: ["stream"] },
  { given: { stream: "../a" }, properties: ["stream"] },
  { given: { stream: "größe" }, properties: ["stream"] },
  { given: { stream: "a".repeat(65) }, properties: ["stream"] },
  { given: { username: "me", token: "secret" }, properties: ["username"] },
  { given: { token: "secret", credentials_file: "me.creds" }, properties: ["username"] },
  { given: { password: "secret" }, properties: ["password"] },
  { given: { username: "me", password: "secret" }, properties: [] },
  { given: { tls_key_file: "key.pem" }, properties: ["tls_cert_file"] },
] as const;

for (const { given, properties } of faulty)
  test(`a jetstream channel with ${JSON.stringify(given)} has faults in [${properties}]`, () => {
    const faults = checkJetStream({ ...configOf({ servers: ["nats://nats"] }), ...given });

    assert.deepEqual(
      faults.map(({ property }) => property),
      properties,
    );
    assert.doesNotMatch(JSON.stringify(faults), /secret/);
  });

test("the client that the message names is the optional one of package.json", () => {
  const manifest: Readonly<Record<string, Readonly<Record<string, unknown>>>> = JSON.parse(
    readFileSync(path.join(repositoryRoot, "package.json"), "utf8"),
  );

  assert.equal(`@nats-io/transport-node@${manifest["peerDependencies"]?.["@nats-io/transport-node"]}`, installed);
  assert.equal(`@nats-io/transport-node@${manifest["devDependencies"]?.["@nats-io/transport-node"]}`, installed);
  assert.deepEqual(manifest["peerDependenciesMeta"]?.["@nats-io/transport-node"], { optional: true });
  assert.equal(manifest["dependencies"]?.["@nats-io/transport-node"], undefined);
});

test("without the client the error says how to install it", async (context) => {
  const folder = await tempFolder(context);
  const client = new URL("../../../plugins/jetstream/client.js", import.meta.url).href;
  await writeFiles(folder, {
    "without.mjs": 'import { register } from "node:module"; register("./hook.mjs", import.meta.url);',
    "hook.mjs": `export async function resolve(specifier, context, next) {
      if (!specifier.startsWith("@nats-io/")) return await next(specifier, context);
      throw Object.assign(new Error("Cannot find package"), { code: "ERR_MODULE_NOT_FOUND" });
    }`,
    "script.mjs": `import { loadClient } from ${JSON.stringify(client)};
      await loadClient().catch(({ code, message }) => console.log(code + ": " + message));`,
  });
  const hook = pathToFileURL(path.join(folder, "without.mjs")).href;

  const { stdout } = await promisify(execFile)(process.execPath, ["--import", hook, path.join(folder, "script.mjs")]);

  assert.match(stdout, /^NATS_CLIENT_MISSING: /);
  assert.ok(stdout.includes(`npm install ${installed}`), stdout);
});
