import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import test from "node:test";
import { repositoryRoot } from "../support/repository.js";

// Packages with native files name one package for each platform; npm ci refuses a lock file that lacks one of them.
test("the lock file holds the native files of every platform that a package offers", async () => {
  const text = await readFile(join(repositoryRoot, "package-lock.json"), "utf8");
  const packages = new Map(Object.entries(member(JSON.parse(text), "packages")));

  const missing = [...packages].flatMap(([path, entry]) =>
    Object.keys(member(entry, "optionalDependencies"))
      .filter((name) => !packages.has(`node_modules/${name}`) && !packages.has(`${path}/node_modules/${name}`))
      .map((name) => `${path}: ${name}`),
  );

  assert.ok(packages.size > 1);
  assert.deepEqual(missing, []);
});

function member(value: unknown, name: string): object {
  const found: unknown = typeof value === "object" && value !== null ? Reflect.get(value, name) : undefined;
  return typeof found === "object" && found !== null ? found : {};
}
