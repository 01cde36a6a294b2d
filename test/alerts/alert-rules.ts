import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { repositoryRoot } from "../support/repository.js";

export const rulesFile = join(repositoryRoot, "config", "prometheus", "deneb-alerts.yml");

export interface AlertRule {
  readonly name: string;
  readonly expr: string;
  readonly severity: string;
  readonly summary: string;
  readonly description: string;
  readonly runbook: string;
}

/** The alerts of the file, which has each part of an alert on a line of its own; an expression may have several. */
export async function alertRules(): Promise<readonly AlertRule[]> {
  const text = await readFile(rulesFile, "utf8");
  const [, ...blocks] = text.split(/^ {6}- alert: /m);
  return blocks.map((block) => {
    const name = block.split("\n", 1)[0] ?? "";
    const part = (key: string) => new RegExp(`^ +${key}: (.+)$`, "m").exec(block)?.[1] ?? "";
    const lines = /^ {8}expr: \|\n((?: {10}.*\n)+)/m.exec(block)?.[1];
    return {
      name,
      expr: (lines ?? part("expr")).trim(),
      severity: part("severity"),
      summary: part("summary"),
      description: part("description"),
      runbook: part("runbook"),
    };
  });
}
