import { once } from "node:events";
import { run } from "node:test";
import { spec } from "node:test/reporters";
import { provideServers, type Servers } from "./support/servers.js";
import { closingLine, Tally } from "./support/tally.js";
import { testFiles } from "./support/test-files.js";

const FILE_TIMEOUT_MILLIS = Number(process.env["DENEB_TEST_MINUTES"] ?? 5) * 60_000;

process.exitCode = await main(process.argv.slice(2));

/** Runs the test files whose path holds one of the filters (all without filters); returns the exit code. */
async function main(filters: readonly string[]): Promise<number> {
  const files = await testFiles(filters);
  const servers = await provideServers();
  stopOnSignal(servers);
  try {
    const tally = await runFiles(files);
    return report(tally, servers);
  } finally {
    await servers.stop();
  }
}

async function runFiles(files: readonly string[]): Promise<Tally> {
  const tally = new Tally(files);
  const results = run({ files, concurrency: 2, timeout: FILE_TIMEOUT_MILLIS });
  results.on("test:pass", (result) => tally.passed(result));
  results.on("test:fail", (result) => tally.failed(result));
  const text = results.compose(new spec());
  text.pipe(process.stdout, { end: false });
  await once(text, "end");
  return tally;
}

function report(tally: Tally, { remarks, absent }: Servers): number {
  const required = (process.env["DENEB_TEST_REQUIRE"] ?? "").split(/[\s,]+/).filter((name) => name !== "");
  const problems = [
    ...required.filter((name) => absent.includes(name)).map((name) => `${name} is required and not available`),
    ...required.flatMap((name) => skippedFor(name, tally)),
    ...(tally.passes + tally.failures.length === 0 ? ["no test ran"] : []),
  ];
  const lines = [
    ...list("Servers", remarks),
    ...list(
      "Skipped",
      tally.skips.map(({ name, reason }) => `${name}: ${reason}`),
    ),
    ...list("Failed", tally.failures),
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

function stopOnSignal(servers: Servers): void {
  for (const [signal, number] of [
    ["SIGINT", 2],
    ["SIGTERM", 15],
  ] as const) {
    process.once(signal, () => void servers.stop().finally(() => process.exit(128 + number)));
  }
}
