import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { repositoryRoot } from "../support/repository.js";

export interface Target {
  readonly refId: string;
  readonly expr: string;
  readonly legendFormat?: string;
  readonly datasource: { readonly type: string; readonly uid: string };
}

export interface Panel {
  readonly id: number;
  readonly type: string;
  readonly title: string;
  readonly description?: string;
  readonly gridPos: { readonly h: number; readonly w: number; readonly x: number; readonly y: number };
  readonly datasource?: Target["datasource"];
  readonly targets?: readonly Target[];
}

interface Variable {
  readonly name: string;
  readonly type: string;
  readonly query: string | { readonly query: string };
}

export interface Dashboard {
  readonly title: string;
  readonly uid: string;
  readonly schemaVersion: number;
  readonly panels: readonly Panel[];
  readonly templating: { readonly list: readonly Variable[] };
  readonly annotations: { readonly list: readonly { readonly name: string; readonly expr?: string }[] };
}

/** The dashboard of the package. */
export async function dashboard(): Promise<Dashboard> {
  return JSON.parse(await readFile(join(repositoryRoot, "config", "grafana", "deneb-dashboard.json"), "utf8"));
}

/** Every expression of the dashboard, with what Grafana puts in place of its variables when all are chosen. */
export function expressionsOf({ panels, annotations, templating }: Dashboard): ReadonlyMap<string, string> {
  const found = new Map<string, string>();
  for (const { title, targets = [] } of panels) {
    for (const { refId, expr } of targets) found.set(`${title} ${refId}`, filled(expr));
  }
  for (const { name, expr } of annotations.list) if (expr !== undefined) found.set(`annotation ${name}`, filled(expr));
  for (const { name, type, query } of templating.list) {
    const text = typeof query === "string" ? query : query.query;
    const [, series = "", label = ""] = /^label_values\((.+), (\w+)\)$/.exec(text) ?? [];
    if (type === "query") found.set(`variable ${name}`, `count by (${label}) (${filled(series)})`);
  }
  return found;
}

function filled(expression: string): string {
  return expression.replaceAll("$__rate_interval", "1m").replaceAll(/"\$\w+"/g, '".*"');
}
