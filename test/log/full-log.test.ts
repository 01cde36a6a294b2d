import assert from "node:assert/strict";
import { test } from "node:test";
import type { PartitionedLog } from "deneb/log";
import { AgentError } from "../../core/sdk/index.js";
import { collect, put } from "../../core/testing/channel-fixture.js";
import { directoryLog } from "../support/directory-log.js";
import { tempFolder } from "../support/temp-folder.js";
import { until } from "../support/until.js";
import { openLogChannel } from "./opened-channel.js";

const MOST_REPORTS = 5;

/** A log that has no room for another report while it has some. */
function fullOfReports(folder: string): PartitionedLog {
  const log = directoryLog({ folder, partitions: 1 });
  const append = log.append.bind(log);
  log.append = async (part, value, name) => {
    const { first = 0, next = 0 } = (await log.bounds(["agents"])).get("agents") ?? {};
    if (part === "agents" && next - first >= MOST_REPORTS)
      throw new AgentError("LOG_FULL", "the log is full", { retryable: true });
    return await append(part, value, name);
  };
  return log;
}

test("agents of a log that has no room for their reports remove old ones and go on, and know the groups of before", async (context) => {
  const folder = await tempFolder(context);
  const engine = () => fullOfReports(folder);
  const other = await openLogChannel({ folder, engine, config: { group: "other" } });
  await other.stop(AbortSignal.timeout(1000));
  const channel = await openLogChannel({ folder, engine });
  context.after(() => channel.stop(AbortSignal.timeout(1000)));
  const reports = directoryLog({ folder, partitions: 1 });
  await reports.open(new AbortController().signal);

  const reported = async () => (await reports.bounds(["agents"])).get("agents")?.next ?? 0;
  const before = await reported();
  await until(reported, (count) => count > before + 2 * MOST_REPORTS);
  await put(channel, 1);

  assert.deepEqual((await collect(channel, 1)).bodies, [1]);
  const newest = await reports.read(
    new Map([["agents", (await reported()) - 1]]),
    { bytes: 100_000, waitMillis: 1000 },
    new AbortController().signal,
  );
  assert.match(Buffer.from(newest.get("agents")?.at(-1)?.value ?? []).toString(), /"other"/);
});
