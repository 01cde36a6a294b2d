import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { AGENT, agentContainer, LEDGER, VERIFIER } from "../../../core/agent/container.js";
import type { Topology } from "../../../core/configuration/topology.js";
import { AgentError, type AnyPlugin, positionFaults, type Sink } from "../../../core/sdk/index.js";
import memoryChannel from "../../../plugins/memory-channel/index.js";
import { channelIn } from "../../plugins/file-channel/channel-folder.js";
import { KeepingSink, KeepingStore } from "../../support/keeping-sink.js";
import { recordingLog } from "../../support/recording-log.js";
import { ScriptedSink } from "../../support/scripted-sink.js";
import { tempFolder } from "../../support/temp-folder.js";
import { until } from "../../support/until.js";

const common = { summary: "for tests", stability: "stable", config: {} } as const;

interface Parts {
  readonly channel?: AnyPlugin;
  readonly sink?: Sink;
}

/** An agent with a channel and a sink, at rest. */
async function runningAgent(context: TestContext, { channel = memoryChannel, sink = new ScriptedSink() }: Parts = {}) {
  const { log, lines } = recordingLog();
  const scripted: AnyPlugin = { ...common, kind: "sink", type: "scripted", create: () => sink };
  const node = (name: string, definition: AnyPlugin, config = {}) => ({ name, definition, config, slots: {} });
  const batching = { batchSize: 1, batchTimeout: 30, batchTtl: -1, batchRetryIntervals: [1] };
  const topology: Topology = {
    agent: "a",
    sources: [],
    channels: [node("c1", channel, { capacity: 10, transactionCapacity: 10, "keep-alive": 0 })],
    sinks: [{ ...node("k1", scripted), channel: "c1", batching }],
  };
  const dataDir = await tempFolder(context);
  const container = agentContainer({ topology, dataDir, loggers: { of: () => log } });
  const agent = container.resolve(AGENT);
  await agent.start(1000);
  context.after(() => agent.stop(1000));
  const verifier = container.resolve(VERIFIER);
  const warnings = () => lines.filter(({ message }) => message.startsWith("the ledger does not agree"));
  return { verifier, warnings, lines, account: container.resolve(LEDGER).account("c1") };
}

test("a ledger that does not agree with its channel at two checks is warned about, with the numbers", async (context) => {
  const { verifier, warnings, lines, account } = await runningAgent(context);
  await verifier.check();
  await verifier.check();
  account.accepted(3);

  await verifier.check();
  const once = warnings().length;
  await verifier.check();
  await verifier.check();
  const verification = await verifier.verify();

  assert.deepEqual([once, warnings().length], [0, 1]);
  assert.match(JSON.stringify(warnings()), /"unaccounted":3/);
  assert.equal(verification.ok, false);
  account.sink("k1").settled({ stored: 3, "dead-lettered": 0, filtered: 0 });
  await verifier.check();
  await verifier.check();
  const over = lines.filter(({ message }) => message === "the ledger agrees with the channel again");
  assert.deepEqual([over.length, warnings().length], [1, 1]);
  assert.match(verification.differences.join(), /^channel "c1": 3 events unaccounted for \(received 3 = stored 0/);
});

test("events that move while the ledger is checked are not warned about, also where as many move at each check", async (context) => {
  const { verifier, warnings, account } = await runningAgent(context);

  for (let check = 1; check <= 3; check += 1) {
    account.accepted(5);
    const checking = verifier.check();
    account.sink("k1").settled({ stored: 5, "dead-lettered": 0, filtered: 0 });
    await checking;
  }

  assert.deepEqual(warnings(), []);
});

test("a stored position that is not of the channel differs while the agent runs, before anything waits", async (context) => {
  const foreign = new AgentError(positionFaults.foreign, "it was made by another run", { retryable: true });
  const { channel } = channelIn(await tempFolder(context));
  channel.skipTo = () => Promise.reject(foreign);
  const sink = new KeepingSink(new KeepingStore(), true);
  sink.positions.stored = async () => ["id:run:3"];
  const file: AnyPlugin = { ...common, kind: "channel", type: "file", create: () => channel };
  const { verifier } = await runningAgent(context, { channel: file, sink });

  const { ok, differences } = await until(
    () => verifier.verify(),
    (found) => found.differences.length > 0,
  );

  assert.deepEqual([ok, differences], [false, ['sink "k1": it was made by another run']]);
});
