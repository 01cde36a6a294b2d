import { test } from "node:test";
import { channelConformance } from "../../../core/testing/index.js";
import { MemoryChannel } from "../../../plugins/memory-channel/memory-channel.js";
import { recordingLog } from "../../support/recording-log.js";

const cases = channelConformance(async ({ capacity, transactionCapacity, waitSeconds }) => {
  const context = { name: "c1", log: recordingLog().log, dataDir: "", run: "run", now: () => new Date(0) };
  return new MemoryChannel({ capacity, transactionCapacity, "keep-alive": waitSeconds }, context);
});
for (const { name, run } of cases) test(name, run);
