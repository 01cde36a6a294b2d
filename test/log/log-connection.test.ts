import assert from "node:assert/strict";
import { test } from "node:test";
import type { PartitionedLog } from "../../core/log/index.js";
import { AgentError } from "../../core/sdk/index.js";
import { put } from "../../core/testing/channel-fixture.js";
import { directoryLog } from "../support/directory-log.js";
import { tempFolder } from "../support/temp-folder.js";
import { until } from "../support/until.js";
import { openLogChannel } from "./opened-channel.js";

const away = () => new AgentError("LOG_UNAVAILABLE", "the log is away", { retryable: true });

/** A log in a folder of which the test changes members. */
function changedLog(folder: string, change: (log: PartitionedLog) => Partial<PartitionedLog>): PartitionedLog {
  const log = directoryLog({ folder, partitions: 1 });
  const changed = change(log);
  return new Proxy(log, {
    get: (target, name) => {
      const member: unknown = Reflect.get(changed, name) ?? Reflect.get(target, name);
      return typeof member === "function" ? member.bind(target) : member;
    },
  });
}

test("a log that takes appends again is not said to be away, although nobody puts into it meanwhile", async (context) => {
  const folder = await tempFolder(context);
  let isAway = false;
  const engine = () =>
    changedLog(folder, (log) => ({
      append: async (part, value) => {
        if (isAway) throw away();
        return await log.append(part, value);
      },
    }));
  const channel = await openLogChannel({ folder, engine });
  context.after(() => channel.stop(AbortSignal.abort()));

  isAway = true;
  await assert.rejects(put(channel, 1));
  assert.equal(channel.log?.()?.unreachable, "the log is away");
  isAway = false;

  await until(
    async () => channel.log?.()?.unreachable,
    (reason) => reason === undefined,
  );
});
