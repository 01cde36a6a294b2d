import { test } from "node:test";
import { channelConformance } from "../../../core/testing/index.js";
import { MemoryChannel } from "../../../plugins/memory-channel/memory-channel.js";
import { recordingLog } from "../../support/recording-log.js";

for (const { way, fair_taking } of [
  { way: "", fair_taking: false },
  { way: "services in turn: ", fair_taking: true },
]) {
  const cases = channelConformance(async ({ capacity, transactionCapacity, waitSeconds }) => {
    const context = { name: "c1", log: recordingLog().log, dataDir: "", run: "run", now: () => new Date(0) };
    const config = { capacity, transactionCapacity, "keep-alive": waitSeconds, fair_taking };
    return new MemoryChannel(config, context);
  });
  for (const { name, run } of cases) test(`${way}${name}`, run);
}
