import { once, setMaxListeners } from "node:events";
import { join } from "node:path";
import { run } from "node:test";
import { spec } from "node:test/reporters";
import { repositoryRoot } from "./support/repository.js";
import { HangingFiles } from "./support/runner/hanging-files.js";
import { provideRunFolder } from "./support/runner/run-folder.js";
import { signsOf } from "./support/runner/signs-of-file.js";
import { SlowestFiles } from "./support/runner/slowest-files.js";
import type { Lane } from "./support/runner/start-order.js";
import { closingLine, Levels, Tally } from "./support/runner/tally.js";
import { testFiles } from "./support/runner/test-files.js";
import { provideServers, type Servers } from "./support/servers.js";

// Building an image takes minutes on a busy machine.
const FILE_TIMEOUT_MILLIS = Number(process.env["DENEB_TEST_MINUTES"] ?? 15) * 60_000;
// What is to be seen of a file that hangs is gone once its time is over.
const HANGING_MILLIS = FILE_TIMEOUT_MILLIS * 0.95;
const SLOWEST_LISTED = 10;

process.exitCode = await main(process.argv.slice(2));

/** Runs the test files whose path holds one of the filters (all without filters); returns the exit code. */
async function main(filters: readonly string[]): Promise<number> {
  const planned = await testFiles(filters);
  const provided = await provideServers({ browser: planned.some(({ files }) => files.some(needsBrowser)) });
  const runFolder = await provideRunFolder();
  const stop = async () => {
    await Promise.all([provided.stop(), runFolder.remove()]);
  };
  const servers = { ...provided, stop };
  try {
    return report(await runAll(planned, stopOnSignal(servers)), servers);
  } finally {
    await servers.stop();
  }
}

function needsBrowser(file: string): boolean {
  return file.startsWith(join(repositoryRoot, "dist", "test", "management", "page"));
}

interface Outcome {
  readonly tally: Tally;
  readonly slowest: SlowestFiles;
  readonly hanging: HangingFiles;
}

async function runAll(planned: readonly Lane[], signal: AbortSignal): Promise<Outcome> {
  const files = planned.flatMap((lane) => lane.files);
  const outcome = {
    tally: new Tally(files),
    slowest: new SlowestFiles(join(repositoryRoot, "dist", "test"), files),
    hanging: new HangingFiles(files, { afterMillis: HANGING_MILLIS, signs: signsOf }),
  };
  await Promise.all(planned.map((lane) => runLane(lane, outcome, signal)));
  return outcome;
}

async function runLane(
  { files, atOnce }: Lane,
  { tally, slowest, hanging }: Outcome,
  signal: AbortSignal,
): Promise<void> {
  const results = run({ files, concurrency: atOnce, timeout: FILE_TIMEOUT_MILLIS, signal });
  const levels = new Levels();
  results.on("test:pass", (result) => tally.passed(result, levels));
  results.on("test:fail", (result) => tally.failed(result, levels));
  results.on("test:dequeue", (seen) => hanging.started(seen));
  results.on("test:complete", (result) => {
    slowest.completed(result);
    hanging.completed(result);
  });
  const text = results.compose(new spec());
  text.pipe(process.stdout, { end: false });
  await once(text, "end");
}

function report({ tally, slowest, hanging }: Outcome, { remarks, absent }: Servers): number {
  const required = (process.env["DENEB_TEST_REQUIRE"] ?? "").split(/[\s,]+/).filter((name) => name !== "");
  const problems = [
    ...required.filter((name) => absent.includes(name)).map((name) => `${name} is required and not available`),
    ...required.flatMap((name) => skippedFor(name, tally)),
    ...(tally.passes + tally.failures.length === 0 ? ["no test ran"] : []),
  ];
  const lines = [
    ...list("Servers", remarks),
    ...list("Slowest files", slowest.lines(SLOWEST_LISTED)),
    ...list(
      "Skipped",
      tally.skips.map(({ name, reason }) => `${name}: ${reason}`),
    ),
    ...list("Did not end in time", hanging.lines()),
    ...list(
      "Failed",
      tally.failures.flatMap(({ name, reason }) => [name, ...reason.map((line) => `    ${line}`)]),
    ),
    ...list("Refused", problems),
    closingLine(tally),
  ];
  process.stdout.write(`${lines.join("\n")}\n`);
  return tally.failures.length + problems.length === 0 ? 0 : 1;
}

function skippedFor(server: string, { skips }: Tally): readonly string[] {
  const hit = skips.filter(({ reason }) => reason.toLowerCase().includes(server));
  return hit.map(({ name }) => `${server} is required and a test was skipped for it: ${name}`);
}

function list(title: string, items: readonly string[]): readonly string[] {
  return items.length === 0 ? [] : [`${title}:`, ...items.map((item) => `  ${item}`), ""];
}

/** The signal that it returns ends the files that run: one that is sent to a runner alone does not reach their processes. */
function stopOnSignal(servers: Servers): AbortSignal {
  const ending = new AbortController();
  // One for each file that runs.
  setMaxListeners(0, ending.signal);
  for (const [signal, number] of [
    ["SIGINT", 2],
    ["SIGTERM", 15],
  ] as const) {
    process.once(signal, () => {
      ending.abort();
      void servers.stop().finally(() => process.exit(128 + number));
    });
  }
  return ending.signal;
}
