import assert from "node:assert/strict";
import { test } from "node:test";
import { heapShare } from "../../core/cli/workers/heap-share.js";
import { startAgent } from "../support/agent-process.js";
import { durable } from "../support/logging-workers.js";
import { runningProcesses } from "../support/processes.js";
import { teamOf } from "../support/team.js";
import { tempFolder } from "../support/temp-folder.js";

const MIB = 1024 * 1024;
const cases = [
  {
    where: "in a container of 512 MiB",
    processes: 4,
    constrained: 512,
    heap: 259,
    option: ["--max-old-space-size=64"],
  },
  {
    where: "in a container of 1 GiB",
    processes: 2,
    constrained: 1024,
    heap: 524,
    option: ["--max-old-space-size=256"],
  },
  {
    where: "in a container of 256 MiB",
    processes: 8,
    constrained: 256,
    heap: 259,
    option: ["--max-old-space-size=64"],
  },
  { where: "on a machine of 24 GiB", processes: 2, constrained: 2 ** 44, heap: 4144, option: [] },
  { where: "on a machine of 24 GiB", processes: 6, constrained: 0, heap: 4144, option: ["--max-old-space-size=2048"] },
] as const;
for (const { where, processes, constrained, heap, option } of cases)
  test(`each of ${processes} processes ${where} is started with [${option}]`, () => {
    const memory = { total: 24 * 1024 * MIB, constrained: constrained * MIB, heap: heap * MIB, options: "" };

    assert.deepEqual(heapShare(processes, memory), option);
  });

for (const options of [
  "--max-old-space-size=300",
  "--max_old_space_size=300",
  "--inspect --max-old-space-size-percentage=20",
])
  test(`with ${options} the heaps of workers are as that says`, () => {
    const memory = { total: 1024 * MIB, constrained: 0, heap: 300 * MIB, options };

    assert.deepEqual(heapShare(8, memory), []);
  });

test("each worker of a container is started with its part of the memory", async (context) => {
  const folder = await tempFolder(context);
  const constrained = "data:text/javascript,process.constrainedMemory=()=>536870912";
  const env = { DENEB_WORKERS: "2", NODE_OPTIONS: `--import ${constrained}` };
  const agent = await startAgent(context, { properties: durable, folder, env });

  const { workers } = await teamOf(agent);
  const running = await runningProcesses();

  for (const { pid } of workers)
    assert.match(running.find(({ id }) => id === pid)?.text ?? "", / --max-old-space-size=128 /);
});
