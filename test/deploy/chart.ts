import { readFile } from "node:fs/promises";
import path from "node:path";
import { parseAllDocuments } from "yaml";
import { repositoryRoot } from "../support/repository.js";
import { tool } from "./tool.js";

export const chartFolder = path.join(repositoryRoot, "deploy", "helm", "deneb");
export const manifestFile = path.join(repositoryRoot, "deploy", "kubernetes", "deneb.yaml");
const manifestValues = path.join(repositoryRoot, "deploy", "kubernetes", "values.yaml");

/** Files of the chart that are copies, because a chart reads none outside of its folder. */
export const copiedFiles = [
  {
    from: path.join(repositoryRoot, "config/prometheus/deneb-alerts.yml"),
    to: path.join(chartFolder, "files/alerts.yml"),
  },
  {
    from: path.join(repositoryRoot, "config/grafana/deneb-dashboard.json"),
    to: path.join(chartFolder, "files/dashboard.json"),
  },
] as const;

export interface Manifest {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly [key: string]: unknown };
  readonly [key: string]: unknown;
}

/** What the chart makes of values, as text. */
export async function renderedText(...options: readonly string[]): Promise<string> {
  return await tool("helm", ["template", "deneb", chartFolder, "--namespace", "fiware", ...options]);
}

export async function rendered(values: object = {}): Promise<readonly Manifest[]> {
  // Each value of the first level by itself: texts may be of several lines.
  const options = Object.entries(values).flatMap(([name, value]) => ["--set-json", `${name}=${JSON.stringify(value)}`]);
  return manifestsOf(await renderedText(...options));
}

export function manifestsOf(text: string): readonly Manifest[] {
  return parseAllDocuments(text)
    .map((document) => document.toJS())
    .filter((one) => one !== null);
}

/** The manifest for those who do not use Helm. */
export async function plainManifest(): Promise<string> {
  const text = await renderedText("--values", manifestValues);
  const lines = text.split("\n").filter((line) => !/^# Source:|helm\.sh\/chart:|managed-by: Helm/.test(line));
  return `${HEADER}${lines.join("\n").replace(/^---\n/, "")}`;
}

export async function writtenManifest(): Promise<string> {
  return await readFile(manifestFile, "utf8");
}

const HEADER = `# Deneb on Kubernetes without Helm; made from the chart in deploy/helm/deneb by npm run manifests. It needs two secrets:
#
#   kubectl create namespace fiware
#   kubectl --namespace fiware create secret generic deneb-database \\
#     --from-literal=username=deneb --from-file=password=PASSWORD-FILE
#   kubectl --namespace fiware create secret generic deneb-management \\
#     --from-file=read-tokens=FILE --from-file=admin-tokens=FILE
#   kubectl apply --filename deneb.yaml
---
`;
