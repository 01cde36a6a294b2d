import type { LabelValues } from "prom-client";

/** One metric with the lines of its series. */
export interface Family {
  readonly name: string;
  readonly help: string;
  readonly type: "counter" | "gauge" | "histogram";
  readonly lines: readonly string[];
}

/** Metrics in the text format of Prometheus, as prom-client writes them. */
export function familiesText(families: readonly Family[]): string {
  const texts = families.map(({ name, help, type, lines }) =>
    [`# HELP ${name} ${escaped(help)}`, `# TYPE ${name} ${type}`, ...lines].join("\n"),
  );
  return `${texts.join("\n\n")}\n`;
}

export function lineOf(series: string, value: number): string {
  return `${series} ${Number.isFinite(value) ? value : nonFinite(value)}`;
}

/** A name with the labels of a series; `labels` is their text. */
export function seriesOf(name: string, labels: string): string {
  return labels === "" ? name : `${name}{${labels}}`;
}

export function labelsText(labels: LabelValues<string>): string {
  return Object.entries(labels)
    .map(([name, value]) => labelText(name, String(value)))
    .join(",");
}

export function labelText(name: string, value: string): string {
  return `${name}="${special.test(value) ? escaped(value).replaceAll('"', '\\"') : value}"`;
}

const special = /["\\\n]/;

function escaped(text: string): string {
  return text.replaceAll("\\", "\\\\").replaceAll("\n", "\\n");
}

function nonFinite(value: number): string {
  if (Number.isNaN(value)) return "NaN";
  return value < 0 ? "-Inf" : "+Inf";
}
