import { writeFile } from "node:fs/promises";
import { provideSome } from "../support/servers.js";
import { choose } from "./choose.js";
import { environment } from "./environment.js";
import { generatorOf } from "./generators.js";
import { type BenchOptions, optionsOf, usage } from "./options.js";
import { originalCases } from "./original-cases.js";
import { recordedCases } from "./recorded-cases.js";
import { jsonReport, markdownReport, type Report, terminalReport } from "./report.js";
import { measureRounds } from "./rounds.js";
import { serversOf } from "./servers-of.js";
import { type BenchSet, setOf } from "./sets.js";
import { type Survey, withSurveys } from "./survey.js";
import { unwindAll } from "./unwinding.js";
import { operatedKafka, warmKafka } from "./warm-kafka.js";

try {
  const options = optionsOf(process.argv.slice(2));
  if (options.help) console.log(usage);
  else if (options.list) console.log(namesOf(chosen(options, [])).join("\n"));
  else await withServers(options);
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
}

function chosen({ sets, texts, huge, original }: BenchOptions, surveys: readonly Survey[]): BenchSet {
  const more = [...surveys.flatMap(recordedCases), ...originalCases(original, surveys)];
  const { cases, ceilings, growth, scale } = setOf(sets, more);
  for (const text of texts) {
    if (choose([...cases, ...ceilings, ...growth, ...scale], [text]).length > 0) continue;
    throw new Error(`nothing of the set ${sets.join(", ")} is called "${text}"; --list prints the names`);
  }
  return {
    cases: choose(cases, texts),
    ceilings: choose(ceilings, texts),
    scale: choose(scale, texts),
    growth: choose(growth, texts).filter((point) => huge || point.huge !== true),
  };
}

function namesOf({ ceilings, cases, growth, scale }: BenchSet): readonly string[] {
  return [...ceilings, ...cases, ...growth, ...scale].map(({ name }) => name);
}

async function withServers(options: BenchOptions): Promise<void> {
  // A wrong text is reported at once; recorded bodies are not read yet.
  const known = options.bodies.length === 0 ? [chosen(options, [])] : [];
  const generator = await generatorOf(options.generator);
  const servers = await provideSome(serversOf(known), { kafka: operatedKafka });
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
    const say = (what: string) => console.error(what);
    await withSurveys(options.bodies, async (surveys) => {
      const recorded = Object.fromEntries(surveys.map((survey) => [`recorded ${survey.name}`, wordsOf(survey)]));
      const set = chosen(options, surveys);
      if (serversOf([set]).has("kafka")) await warmKafka({ ...options, generator, say });
      const results = await measureRounds(set, { ...options, generator, signal: ended.signal, say });
      const environment = { ...facts, ...recorded };
      await publish({ environment, results, original: options.original }, options);
    });
  } finally {
    await servers.stop();
  }
}

function wordsOf({ requests, events, refused }: Survey): string {
  return `${requests} requests with ${events} events are sent; ${refused} requests, which the agent refuses, are not`;
}

function loadOf({ generator, connections, seconds, runs }: BenchOptions): string {
  return `${generator} on the same machine, ${connections} connections, ${seconds} s, runs: ${runs}`;
}

async function publish(report: Report, { markdown, json }: BenchOptions): Promise<void> {
  console.log(terminalReport(report));
  if (markdown !== undefined) await writeFile(markdown, markdownReport(report));
  if (json !== undefined) await writeFile(json, jsonReport(report));
}
