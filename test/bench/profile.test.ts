import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import path from "node:path";
import { type TestContext, test } from "node:test";
import { pathToFileURL } from "node:url";
import { repositoryRoot } from "../support/repository.js";
import { tempFolder } from "../support/temp-folder.js";
import { writeFiles } from "../support/written-files.js";
import { autocannonLoad } from "./autocannon.js";
import { agentCase, bareSocket } from "./case.js";
import { type MeasureOptions, measure } from "./measure.js";
import { PlacesOfCode } from "./places-of-code.js";
import { newProfileFolder, type Place, placesIn } from "./profile.js";
import { profileSheet } from "./profile-sheet.js";

const dist = pathToFileURL(path.join(repositoryRoot, "dist")).href;
const modules = pathToFileURL(path.join(repositoryRoot, "node_modules")).href;

for (const { url, functionName = "f", place } of [
  { url: `${dist}/core/pipeline/delivery/take-batch.js`, place: "core/pipeline/delivery" },
  { url: `${dist}/plugins/rdb-sink/postgresql/pipeline.js`, place: "plugins/rdb-sink/postgresql" },
  { url: `${modules}/pg/lib/client.js`, place: "pg" },
  { url: `${modules}/@scope/name/node_modules/@other/inner/index.js`, place: "@other/inner" },
  { url: "node:internal/streams/readable", place: "node:streams" },
  { url: "node:net", place: "node:net" },
  { url: "", functionName: "(garbage collector)", place: "garbage collection" },
  { url: "", functionName: "writev", place: "native writev" },
  { url: "", functionName: "RegExp: ^a+$", place: "regular expressions" },
])
  test(`a function of ${url.replace(dist, "").replace(modules, "") || functionName} is of the place ${place}`, () => {
    assert.equal(new PlacesOfCode().of({ functionName, url, lineNumber: 3 }), place);
  });

test("a function in the bundle is of the place of its module", async () => {
  const lines = (await readFile(path.join(repositoryRoot, "dist/bundle/agent.js"), "latin1")).split("\n");
  const names = ["// dist/core/ngsi/values/json.js", "// node_modules/pino/pino.js"];
  const url = `${dist}/bundle/agent.js`;
  const places = new PlacesOfCode();

  for (const [index, place] of ["core/ngsi/values", "pino"].entries()) {
    const lineNumber = lines.indexOf(names[index] ?? "") + 5;
    assert.equal(places.of({ functionName: "f", url, lineNumber }), place);
  }
});

/** Four samples of a thread: 10 µs each in two places, then idle. */
const sampled = {
  startTime: 1000,
  endTime: 1050,
  nodes: [
    { id: 1, callFrame: { functionName: "a", url: "node:net", lineNumber: 0 } },
    { id: 2, callFrame: { functionName: "b", url: "", lineNumber: 0 } },
    { id: 3, callFrame: { functionName: "(idle)", url: "", lineNumber: 0 } },
  ],
  samples: [1, 2, 2, 3, 3],
  timeDeltas: [0, 10, 10, 10, 10],
};

async function profiled(context: TestContext) {
  const profiles = await newProfileFolder(await tempFolder(context), "PostgreSQL, 100 tables");
  const other = { ...sampled, samples: [1, 1, 1, 1, 1] };
  await writeFiles(profiles.folder, {
    "CPU.20260101.000000.77.0.001.cpuprofile": JSON.stringify(sampled),
    "CPU.20260101.000000.77.1.002.cpuprofile": JSON.stringify(other),
  });
  return profiles;
}

for (const { says, span, places } of [
  {
    says: "places have the shares of the main thread while it was busy, the largest first",
    span: { from: 0, to: 2000 },
    places: [
      ["native b", "0.667"],
      ["node:net", "0.333"],
    ],
  },
  {
    says: "what ran outside of the span does not count",
    span: { from: 995, to: 1015 },
    places: [
      ["node:net", "0.667"],
      ["native b", "0.333"],
    ],
  },
])
  test(says, async (context) => {
    const found = await placesIn(await profiled(context), span);

    assert.deepEqual(
      found.map(({ name, share }) => [name, share.toFixed(3)]),
      places,
    );
  });

const skip = process.platform === "linux" ? false : "only Linux tells the CPU time of threads";

test("a profiled run of the agent and of a bare server says where its CPU time went", { skip }, async (context) => {
  const options: MeasureOptions = {
    generator: autocannonLoad,
    seconds: 3,
    connections: 4,
    looks: 0,
    profile: await tempFolder(context),
  };
  const cases = [bareSocket, agentCase({ database: "sqlite", channel: "memory", batchSize: 1000, entities: 3 })];
  const names = [];
  for (const subject of cases) {
    const { places = [] } = await measure(subject, options);
    assert.equal(places.reduce((sum, { share }) => sum + share, 0).toFixed(3), "1.000");
    names.push(places.map(({ name }) => name));
  }

  const [server, agent] = names;
  assert.ok(server?.includes("test/bench"), `the bare server ran in ${server}`);
  // Which rooms the samples of a few seconds meet is chance; that it meets one of the agent is not.
  assert.ok(agent?.some(ofAgent), `the agent ran in ${agent}`);
  assert.ok(!server?.some(ofAgent), `the bare server ran in ${server}`);
});

function ofAgent(place: string): boolean {
  return /^(core|plugins)\//.test(place);
}

const load = { accepted: 1, refused: 0, failed: 0, unanswered: 0, startedAt: 0, seconds: 1, cores: 0 };
const run = { acceptedPerSecond: 1, load: { ...load, p50: 1, p99: 1, p999: 1 }, startMilliseconds: 1 };

test("the sheet has the microseconds of each place, the small ones as one row, and those of other threads", () => {
  const placed = (used: number, places: readonly Place[]) => ({
    ...run,
    places,
    agentMicroseconds: used + 1.5,
    mainThreadMicroseconds: used,
  });
  const small = { name: "small", share: 0.01 };
  const server = placed(10, [{ name: "test/bench", share: 0.99 }, small]);
  const agents = [placed(1000, [{ name: "core", share: 1 }]), placed(3000, [{ name: "core", share: 1 }])];

  const sheet = profileSheet([
    { subject: bareSocket, runs: [server, run] },
    { subject: { ...bareSocket, name: "agent" }, runs: agents },
    { subject: { ...bareSocket, name: "no profile" }, runs: [run] },
  ]);

  assert.deepEqual(sheet?.head, ["place", bareSocket.name, "agent"]);
  assert.deepEqual(sheet?.rows, [
    ["core", "0", "2,000"],
    ["test/bench", "9.9", "0"],
    ["all others", "0.1", "0"],
    ["other threads: disk, V8", "1.5", "1.5"],
    ["sum", "11.5", "2,001.5"],
  ]);
});

test("what has no profile has no table", () => {
  for (const measured of [run, { ...run, agentMicroseconds: 9, places: [] }])
    assert.equal(profileSheet([{ subject: bareSocket, runs: [measured] }]), undefined);
});
