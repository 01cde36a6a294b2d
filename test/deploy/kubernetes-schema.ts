import { mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { repositoryRoot } from "../support/repository.js";
import type { Manifest } from "./chart.js";
import { tool } from "./tool.js";

/** Where the types of an API version are, which are generated from the OpenAPI schema of Kubernetes. */
const modules: Readonly<Record<string, string>> = {
  v1: "kubernetes-types/core/v1",
  "apps/v1": "kubernetes-types/apps/v1",
  "policy/v1": "kubernetes-types/policy/v1",
  "networking.k8s.io/v1": "kubernetes-types/networking/v1",
};

/** Of the Prometheus operator there is no schema here. */
const operator = "monitoring.coreos.com/v1";

/**
 * What is wrong with manifests by the schemas of Kubernetes; empty when nothing is. The compiler is the validator: each manifest is
 * a literal of its type, so that unknown fields, absent ones, wrong types and values that are none of a list are errors.
 */
export async function kubernetesFaults(manifests: readonly Manifest[]): Promise<string> {
  const folder = await mkdtemp(path.join(tmpdir(), "deneb-manifests-"));
  try {
    await symlink(path.join(repositoryRoot, "node_modules"), path.join(folder, "node_modules"));
    const known = manifests.filter(({ apiVersion }) => apiVersion !== operator);
    const lines = known.map((manifest, index) => {
      const { apiVersion, kind } = manifest;
      const type = `import("${modules[apiVersion]}").${kind}`;
      return `export const manifest${index} = ${JSON.stringify(manifest)} satisfies ${type} & Named;`;
    });
    const named = "type Named = { apiVersion: string; kind: string; metadata: { name: string } };";
    await writeFile(path.join(folder, "manifests.ts"), `${[named, ...lines].join("\n")}\n`);
    const options = ["--noEmit", "--strict", "--skipLibCheck", "--module", "esnext", "--moduleResolution", "bundler"];
    const compiler = path.join(repositoryRoot, "node_modules", ".bin", "tsc");
    await tool(compiler, [...options, "--types", "", "manifests.ts"], { cwd: folder });
    return "";
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
