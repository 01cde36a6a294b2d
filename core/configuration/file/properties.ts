import { Properties } from "properties-file/parser";
import { type ConfigurationFault, errorAt, warningAt } from "../configuration-fault.js";
import { doubtfulValues } from "./doubtful-values.js";
import type { Setting } from "./settings.js";

interface ParsedProperties {
  readonly settings: readonly Setting[];
  /** Those whose key is given again further down. */
  readonly overridden: readonly Setting[];
  readonly faults: readonly ConfigurationFault[];
}

/** Reads the syntax of a Java properties file. Where a key is given more than once, the last line is used. */
export function parseProperties(text: string): ParsedProperties {
  const { nodes, faults } = parseTolerantly(withoutEmptyBegins(text));
  const all = nodes.map(({ key, value, startingLineNumber }) => ({
    key: key.trim(),
    value: value.trim(),
    line: startingLineNumber,
  }));
  const last = new Map(all.map((setting) => [setting.key, setting]));
  return {
    settings: all.filter((setting) => last.get(setting.key) === setting),
    overridden: all.filter((setting) => last.get(setting.key) !== setting),
    faults: [
      ...faults,
      ...nodes.flatMap(encodingFaults),
      ...nodes.flatMap(doubtfulValues),
      ...repetitionFaults(all.filter(({ key }) => !holdsExpression(key))),
    ],
  };
}

/** Expressions are replaced in values only. A colon ends a key, so that `${env:NAME}` in one leaves `${env`. */
export function holdsExpression(key: string): boolean {
  return key.includes("${");
}

/** A line with nothing but a backslash begins no entry: for Java the next one does, which may be a comment; for the parser it goes on. */
function withoutEmptyBegins(text: string): string {
  let isContinued = false;
  const read = (line: string, lineBreak: string): string => {
    if (!isContinued && lineBreak !== "" && /^[ \t\f]*\\$/.test(line)) return lineBreak;
    const isComment = !isContinued && /^[ \t\f]*[#!]/.test(line);
    isContinued = !isComment && /(?<!\\)(?:\\\\)*\\$/.test(line);
    return line + lineBreak;
  };
  return text.replace(/([^\r\n]*)(\r\n|\r|\n|$)/g, (_, line: string, lineBreak: string) => read(line, lineBreak));
}

type PropertyNode = ReturnType<Properties["getProperties"]>[number];

/** The parser stops at the first malformed escape; lines that hold one are left out, so that the others are still checked. */
function parseTolerantly(text: string): { nodes: readonly PropertyNode[]; faults: readonly ConfigurationFault[] } {
  if (parses(text)) return { nodes: new Properties(text).getProperties(), faults: [] };
  const lines = text.split(/\r\n|\r|\n/);
  const sound = lines.map((line) => (parses(line) ? line : "")).join("\n");
  const faults = lines.flatMap((line, index) => (parses(line) ? [] : [escapeFault(line, index + 1)]));
  if (parses(sound)) return { nodes: new Properties(sound).getProperties(), faults };
  return { nodes: [], faults: [...faults, errorAt({ key: "\\u" }, ESCAPE_REASON)] };
}

function parses(text: string): boolean {
  try {
    return new Properties(text).nodes.length > 0;
  } catch {
    return false;
  }
}

const ESCAPE_REASON = "holds \\u without four hexadecimal digits; write a backslash itself as \\\\";

function escapeFault(line: string, number: number): ConfigurationFault {
  return errorAt({ key: line.split(/[=:\s]/, 1).join(""), line: number }, ESCAPE_REASON);
}

function encodingFaults({ key, rawLines, startingLineNumber }: PropertyNode): readonly ConfigurationFault[] {
  if (!rawLines.some((line) => line.includes("\uFFFD"))) return [];
  return [
    errorAt(
      { key, line: startingLineNumber },
      "is not UTF-8; save the file as UTF-8, or write the character as \\uXXXX",
    ),
  ];
}

function repetitionFaults(settings: readonly Setting[]): readonly ConfigurationFault[] {
  const lines = new Map<string, readonly Setting["line"][]>();
  for (const { key, line } of settings) lines.set(key, [...(lines.get(key) ?? []), line]);
  return [...lines]
    .filter(([, numbers]) => numbers.length > 1)
    .map(([key, numbers]) =>
      warningAt({ key, line: numbers.at(-1) }, `is given on lines ${numbers.join(" and ")}; the last one counts`),
    );
}
