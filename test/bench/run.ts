import { writeFile } from "node:fs/promises";
import { provideServers } from "../support/servers.js";
import { choose } from "./choose.js";
import { environment } from "./environment.js";
import { generatorOf } from "./generators.js";
import { type BenchOptions, optionsOf, usage } from "./options.js";
import { jsonReport, markdownReport, type Report, terminalReport } from "./report.js";
import { measureRounds } from "./rounds.js";
import { type BenchSet, setOf } from "./sets.js";
import { unwindAll } from "./unwinding.js";

try {
  const options = optionsOf(process.argv.slice(2));
  const set = chosen(options);
  const names = [...set.ceilings, ...set.cases, ...set.growth].map(({ name }) => name);
  if (options.help) console.log(usage);
  else if (options.list) console.log(names.join("\n"));
  else await bench(set, options);
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
}

function chosen({ sets, texts, huge }: BenchOptions): BenchSet {
  const { cases, ceilings, growth } = setOf(sets);
  for (const text of texts) {
    if (choose([...cases, ...ceilings, ...growth], [text]).length > 0) continue;
    throw new Error(`nothing of the set ${sets.join(", ")} is called "${text}"; --list prints the names`);
  }
  return {
    cases: choose(cases, texts),
    ceilings: choose(ceilings, texts),
    growth: choose(growth, texts).filter((point) => huge || point.huge !== true),
  };
}

async function bench(set: BenchSet, options: BenchOptions): Promise<void> {
  const generator = await generatorOf(options.generator);
  const servers = await provideServers();
  console.error(servers.remarks.join("\n"));
  const ended = new AbortController();
  for (const signal of ["SIGINT", "SIGTERM"] as const) {
    process.once(signal, async () => {
      console.error(`${signal}: removing what was made`);
      ended.abort();
      await unwindAll();
      await servers.stop();
      process.exit(1);
    });
  }
  try {
    const facts = { ...(await environment()), load: loadOf(options) };
    const results = await measureRounds(set, {
      ...options,
      generator,
      signal: ended.signal,
      say: (what) => console.error(what),
    });
    await publish({ environment: facts, results, original: options.original }, options);
  } finally {
    await servers.stop();
  }
}

function loadOf({ generator, connections, seconds, runs }: BenchOptions): string {
  return `${generator} on the same machine, ${connections} connections, ${seconds} s, runs: ${runs}`;
}

async function publish(report: Report, { markdown, json }: BenchOptions): Promise<void> {
  console.log(terminalReport(report));
  if (markdown !== undefined) await writeFile(markdown, markdownReport(report));
  if (json !== undefined) await writeFile(json, jsonReport(report));
}
