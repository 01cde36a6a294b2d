import assert from "node:assert/strict";
import { cp, mkdir, readFile } from "node:fs/promises";
import path from "node:path";
import test from "node:test";
import { repositoryRoot } from "../support/repository.js";
import { tempFolder } from "../support/temp-folder.js";
import { tool } from "./tool.js";

test("npm run sbom lists the production packages with versions and licenses, with nothing installed", async (t) => {
  const folder = path.join(await tempFolder(t), "deneb");
  await mkdir(folder);
  for (const name of ["package.json", "package-lock.json", ".npmrc", "deploy/sbom.mjs"])
    await cp(path.join(repositoryRoot, name), path.join(folder, name));
  const { packages }: Lock = JSON.parse(await readFile(path.join(folder, "package-lock.json"), "utf8"));
  const manifest = JSON.parse(await readFile(path.join(folder, "package.json"), "utf8"));

  const bill: Bill = JSON.parse(await tool("npm", ["run", "--silent", "sbom"], { cwd: folder }));

  assert.equal(bill.bomFormat, "CycloneDX");
  assert.equal(bill.metadata.component.purl, `pkg:npm/deneb@${manifest.version}`);
  const production = Object.entries(packages)
    .filter(([place, { dev = false }]) => place !== "" && !dev)
    .map(([place, { version }]) => `${place.split("node_modules/").at(-1)}@${version}`);
  const listed = bill.components.map(({ name, version }) => `${name}@${version}`);
  assert.deepEqual(listed.toSorted(), [...new Set(production)].toSorted());
  assert.deepEqual(
    bill.components.filter(({ version, licenses }) => version === "" || licenses?.length !== 1).map(({ name }) => name),
    [],
  );
});

interface Lock {
  readonly packages: Readonly<Record<string, { readonly version: string; readonly dev?: boolean }>>;
}

interface Bill {
  readonly bomFormat: string;
  readonly metadata: { readonly component: { readonly purl: string } };
  readonly components: readonly {
    readonly name: string;
    readonly version: string;
    readonly licenses?: readonly unknown[];
  }[];
}
