import { parseArgs } from "node:util";
import type { OriginalOrder } from "./original.js";
import type { OriginalSystems } from "./original-cases.js";
import { setNames } from "./sets.js";

/** What the command line of the harness says. */
export interface BenchOptions {
  readonly runs: number;
  readonly seconds: number;
  readonly connections: number;
  /** 0: no half load either. */
  readonly looks: number;
  readonly generator: string;
  readonly sets: readonly string[];
  readonly texts: readonly string[];
  readonly huge: boolean;
  /** Files of recorded requests. */
  readonly bodies: readonly string[];
  readonly original: OriginalSystems;
  /** A folder for CPU profiles. */
  readonly profile?: string;
  readonly markdown?: string;
  readonly json?: string;
  readonly list: boolean;
  readonly help: boolean;
}

export const usage = `npm run bench -- [OPTION ...] [TEXT ...]

Measures what is in the sets and whose name holds one of the texts; all words of a text must be in the name. Medians of
the runs, least and greatest beside. docs/performance.md says what the columns mean.

  --set NAME         ${setNames.join(", ")};
                     may be given several times. Without: standard; with texts: all; with --bodies: none
  --list             only prints the names
  --runs N           runs of each case and write ceiling (3); points of growth are measured once
  --seconds N        length of each load (10; set guard: 2)
  --connections N    connections that send (64)
  --looks N          notifications followed from POST to row, ten a second (100; set guard: 0); 0: no half load either
  --generator NAME   autocannon, or wrk when it is installed (autocannon)
  --huge             also the largest points of growth: tens of GB of disk and many minutes each
  --bodies FILE      recorded requests, a line of JSON each; both channels with them; may be given several times
  --original TEXT    the original agent in its packaged setup: a command that runs it, or its stored/s as a number
  --original-best TEXT  the same with batch_size 100 and one table
  --original-url URL    where the command takes notifications (http://127.0.0.1:5050/notify)
  --original-database NAME  the PostgreSQL database that the command writes to; without: a new one, in PGDATABASE
  --profile FOLDER   writes a CPU profile of each run of a case, and says where the CPU time goes; costs some of it
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
      seconds: { type: "string" },
      connections: { type: "string", default: "64" },
      looks: { type: "string" },
      generator: { type: "string", default: "autocannon" },
      huge: { type: "boolean", default: false },
      bodies: { type: "string", multiple: true, default: [] },
      original: { type: "string" },
      "original-best": { type: "string" },
      "original-url": { type: "string" },
      "original-database": { type: "string" },
      profile: { type: "string" },
      markdown: { type: "string" },
      json: { type: "string" },
      help: { type: "boolean", default: false },
    },
  });
  const { markdown, json, bodies, profile } = values;
  const sets = values.set ?? (positionals.length > 0 ? ["all"] : bodies.length > 0 ? [] : ["standard"]);
  const short = sets.join() === "guard";
  return {
    runs: wholeNumber("runs", values.runs),
    seconds: wholeNumber("seconds", values.seconds ?? (short ? "2" : "10")),
    connections: wholeNumber("connections", values.connections),
    looks: looksOf(values.looks ?? (short ? "0" : "100")),
    generator: values.generator,
    sets,
    texts: positionals,
    huge: values.huge,
    bodies,
    original: originalOf(values),
    ...(profile === undefined ? {} : { profile }),
    ...(markdown === undefined ? {} : { markdown }),
    ...(json === undefined ? {} : { json }),
    list: values.list,
    help: values.help,
  };
}

interface OriginalValues {
  readonly original?: string | undefined;
  readonly "original-best"?: string | undefined;
  readonly "original-url"?: string | undefined;
  readonly "original-database"?: string | undefined;
}

function originalOf(values: OriginalValues): OriginalSystems {
  const { "original-url": url = "http://127.0.0.1:5050/notify", "original-database": database } = values;
  if (!URL.canParse(url))
    throw new Error(`--original-url is "${url}"; write a URL such as http://127.0.0.1:5050/notify`);
  const order = { url, ...(database === undefined ? {} : { database }) };
  const packaged = systemOf("original", values.original, order);
  const best = systemOf("original-best", values["original-best"], order);
  const commands = [packaged, best].filter((one) => typeof one === "object");
  for (const option of ["original-url", "original-database"] as const) {
    if (values[option] !== undefined && commands.length === 0) {
      throw new Error(`--${option} is for a command; give one with --original or --original-best`);
    }
  }
  return { ...(packaged === undefined ? {} : { packaged }), ...(best === undefined ? {} : { best }) };
}

/** A number is stored/s; every other text is a command. */
function systemOf(
  option: string,
  text: string | undefined,
  order: Omit<OriginalOrder, "command">,
): number | OriginalOrder | undefined {
  if (text === undefined) return undefined;
  if (text.trim() === "") throw new Error(`--${option} is empty; write a command, or stored/s as a number`);
  return /^[-+]?[\d.,]+$/.test(text) ? wholeNumber(option, text) : { command: text, ...order };
}

function looksOf(text: string): number {
  return text === "0" ? 0 : wholeNumber("looks", text);
}

function wholeNumber(option: string, text: string): number {
  if (!/^[1-9]\d*$/.test(text)) throw new Error(`--${option} is "${text}"; write a whole number above 0`);
  return Number(text);
}
