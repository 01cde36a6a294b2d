import { parseArgs } from "node:util";
import { setNames } from "./sets.js";
import type { OriginalFigures } from "./targets.js";

/** What the command line of the harness says. */
export interface BenchOptions {
  readonly runs: number;
  readonly seconds: number;
  readonly connections: number;
  readonly looks: number;
  readonly generator: string;
  readonly sets: readonly string[];
  readonly texts: readonly string[];
  readonly huge: boolean;
  readonly original: OriginalFigures;
  readonly markdown?: string;
  readonly json?: string;
  readonly list: boolean;
  readonly help: boolean;
}

export const usage = `npm run bench -- [OPTION ...] [TEXT ...]

Measures what is in the sets and whose name holds one of the texts; all words of a text must be in the name. Medians of
the runs, least and greatest beside. docs/performance.md says what the columns mean.

  --set NAME         ${setNames.join(", ")}; may be given several times.
                     Without: standard; with texts: all
  --list             only prints the names
  --runs N           runs of each case and write ceiling (3); points of growth are measured once
  --seconds N        length of each load (10)
  --connections N    connections that send (64)
  --looks N          notifications followed from POST to row, ten a second (100)
  --generator NAME   autocannon, or wrk when it is installed (autocannon)
  --huge             also the largest points of growth: tens of GB of disk and many minutes each
  --original N       stored/s of the original agent in its packaged setup, for the ratios to it
  --original-best N  the same with batch_size 100 and one table
  --markdown FILE    also writes the tables as Markdown
  --json FILE        also writes every figure of every run
  --help             prints this`;

/** Throws for an option that does not exist or is no number where one is due. */
export function optionsOf(args: readonly string[]): BenchOptions {
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: {
      set: { type: "string", multiple: true },
      list: { type: "boolean", default: false },
      runs: { type: "string", default: "3" },
      seconds: { type: "string", default: "10" },
      connections: { type: "string", default: "64" },
      looks: { type: "string", default: "100" },
      generator: { type: "string", default: "autocannon" },
      huge: { type: "boolean", default: false },
      original: { type: "string" },
      "original-best": { type: "string" },
      markdown: { type: "string" },
      json: { type: "string" },
      help: { type: "boolean", default: false },
    },
  });
  const { original, "original-best": best, markdown, json } = values;
  return {
    runs: wholeNumber("runs", values.runs),
    seconds: wholeNumber("seconds", values.seconds),
    connections: wholeNumber("connections", values.connections),
    looks: wholeNumber("looks", values.looks),
    generator: values.generator,
    sets: values.set ?? [positionals.length > 0 ? "all" : "standard"],
    texts: positionals,
    huge: values.huge,
    original: {
      ...(original === undefined ? {} : { packaged: wholeNumber("original", original) }),
      ...(best === undefined ? {} : { best: wholeNumber("original-best", best) }),
    },
    ...(markdown === undefined ? {} : { markdown }),
    ...(json === undefined ? {} : { json }),
    list: values.list,
    help: values.help,
  };
}

function wholeNumber(option: string, text: string): number {
  if (!/^[1-9]\d*$/.test(text)) throw new Error(`--${option} is "${text}"; write a whole number above 0`);
  return Number(text);
}
