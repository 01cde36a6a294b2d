import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import path from "node:path";
import { test } from "node:test";
import { loadLibrary } from "../../../plugins/kafka/client/library.js";
import { repositoryRoot } from "../../support/repository.js";

const name = "@platformatic/kafka";

test("without the client library the error says how to install the optional one of package.json", async () => {
  const manifest: Readonly<Record<string, Readonly<Record<string, unknown>>>> = JSON.parse(
    readFileSync(path.join(repositoryRoot, "package.json"), "utf8"),
  );
  const range = manifest["peerDependencies"]?.[name];
  const missing = () => Promise.reject(new Error(`Cannot find package '${name}'`));

  await assert.rejects(loadLibrary(missing), {
    code: "KAFKA_CLIENT_MISSING",
    message: `loading the client library for Kafka: install it where Deneb is installed: npm install ${name}@${range} (Cannot find package '${name}')`,
  });
  assert.equal(manifest["devDependencies"]?.[name], range);
  assert.deepEqual(manifest["peerDependenciesMeta"]?.[name], { optional: true });
  assert.equal(manifest["dependencies"]?.[name], undefined);
});
