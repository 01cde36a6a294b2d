import assert from "node:assert/strict";
import { faultText } from "../../core/configuration/configuration-fault.js";
import {
  type Configuration,
  type ConfigurationInput,
  readConfiguration,
} from "../../core/configuration/read-configuration.js";
import { fakeCatalogue } from "./plugins.js";

/** A file of nine lines without faults, for the fake plugins. */
export const good = `
a1.sources = http-source
a1.channels = c
a1.sinks = s
a1.sources.http-source.type = http
a1.sources.http-source.channels = c
a1.sources.http-source.handler = ngsi
a1.channels.c.type = memory
a1.sinks.s.type = rdb
a1.sinks.s.channel = c
`.trim();

/** Reads a text with the fake plugins; the only file there is /run/secret. */
export function read(text: string, input: Partial<ConfigurationInput> = {}): Configuration {
  const readFile = (path: string): string => {
    if (path === "/run/secret") return "from the file\n";
    throw new Error(`no such file: ${path}`);
  };
  return readConfiguration({ text, env: {}, readFile, catalogue: fakeCatalogue, ...input });
}

/** The good file with one part replaced. */
export function changed(from: string, to: string): string {
  assert.ok(good.includes(from), `the good file holds ${from}`);
  return good.replace(from, to);
}

/** The good file with more lines at its end. */
export function more(...lines: readonly string[]): string {
  return [good, ...lines].join("\n");
}

/** Severity and text of each fault. */
export function faultTexts({ faults }: Configuration): readonly string[] {
  return faults.map((fault) => `${fault.severity} ${faultText(fault)}`);
}
