import { parseArgs } from "node:util";
import { provideServers } from "../support/servers.js";
import { type BenchCase, cases } from "./case.js";
import { type Measurement, measure } from "./measure.js";
import { type CaseResult, report } from "./report.js";

const usage = `npm run bench -- [--runs N] [--seconds N] [--connections N] [--list] [TEXT ...]
Measures the cases whose name holds one of the texts, all without one. Medians of the runs, least and greatest beside.`;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    runs: { type: "string", default: "3" },
    seconds: { type: "string", default: "10" },
    connections: { type: "string", default: "64" },
    list: { type: "boolean", default: false },
    help: { type: "boolean", default: false },
  },
});

const chosen = cases.filter(({ name }) => positionals.length === 0 || positionals.some((text) => name.includes(text)));
if (values.help) console.log(usage);
else if (values.list) console.log(chosen.map(({ name }) => name).join("\n"));
else await bench(chosen);

async function bench(list: readonly BenchCase[]): Promise<void> {
  const servers = await provideServers();
  const results = new Map<string, CaseResult>(list.map(({ name }) => [name, { name, runs: [] }]));
  try {
    // Round by round, so that a machine that grows slower does so for every case.
    for (let run = 1; run <= Number(values.runs); run += 1) {
      for (const one of list) await addRun(results, one, run);
    }
  } finally {
    await servers.stop();
  }
  console.log(servers.remarks.join("\n"));
  console.log(report([...results.values()]));
}

async function addRun(results: Map<string, CaseResult>, one: BenchCase, run: number): Promise<void> {
  const result = results.get(one.name);
  if (result === undefined || result.failure !== undefined) return;
  console.error(`run ${run}: ${one.name}`);
  try {
    const options = { seconds: Number(values.seconds), connections: Number(values.connections) };
    const measurement: Measurement = await measure(one, options);
    results.set(one.name, { ...result, runs: [...result.runs, measurement] });
  } catch (error) {
    results.set(one.name, { ...result, failure: error instanceof Error ? error.message : String(error) });
  }
}
