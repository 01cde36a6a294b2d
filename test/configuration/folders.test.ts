import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import path from "node:path/posix";
import test from "node:test";
import { repositoryFiles, repositoryRoot } from "../support/repository.js";

const home = "core/configuration/";
/** From the lowest to the highest; a file imports only from its own level and from those before it. */
const levels: readonly (readonly string[])[] = [
  ["configuration-fault.ts", "environment.ts", "topology.ts"],
  ["file/"],
  ["schema/"],
  ["predecessor/"],
  ["topology/"],
  ["read-configuration.ts"],
  ["migration/"],
  ["shown-settings.ts"],
];

const files = (await repositoryFiles("core/configuration")).map((file) => file.slice(home.length));
const imports = new Map(await Promise.all(files.map(async (file) => [file, await importsOf(file)] as const)));

test("each file of the configuration belongs to a level", () => {
  assert.deepEqual(
    files.filter((file) => levelOf(file) < 0),
    [],
  );
});

test("files of the configuration import from their own level and those below", () => {
  const upwards = [...imports].flatMap(([file, targets]) =>
    targets.filter((target) => levelOf(target) > levelOf(file)).map((target) => `${file} imports ${target}`),
  );

  assert.ok([...imports.values()].flat().length > files.length);
  assert.deepEqual(upwards, []);
});

test("no file of the configuration imports itself by way of others", () => {
  assert.deepEqual(
    files.filter((file) => reachedFrom(file).has(file)),
    [],
  );
});

function reachedFrom(file: string): ReadonlySet<string> {
  const reached = new Set(imports.get(file));
  for (const one of reached) for (const next of imports.get(one) ?? []) reached.add(next);
  return reached;
}

function levelOf(file: string): number {
  return levels.findIndex((starts) => starts.some((start) => file.startsWith(start)));
}

/** The files of the configuration that a file imports, types included. */
async function importsOf(file: string): Promise<readonly string[]> {
  const text = await readFile(path.join(repositoryRoot, home, file), "utf8");
  return [...text.matchAll(/\b(?:from|import) "(\.[^"]+)\.js"/g)]
    .map(([, target = ""]) => `${path.join(home, path.dirname(file), target)}.ts`)
    .filter((target) => target.startsWith(home))
    .map((target) => target.slice(home.length));
}
