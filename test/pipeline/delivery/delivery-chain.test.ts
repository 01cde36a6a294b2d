import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { CountedChannel } from "../../../core/pipeline/counted-channel.js";
import { SinkCounters } from "../../../core/pipeline/counters.js";
import { DeadLetters } from "../../../core/pipeline/dead-letters/dead-letters.js";
import { ChannelOutlet } from "../../../core/pipeline/delivery/channel-outlet.js";
import { deliveryChain } from "../../../core/pipeline/delivery/delivery-chain.js";
import { SinkGroup } from "../../../core/pipeline/delivery/sink-group.js";
import { namesOf } from "../../../core/pipeline/delivery/stage.js";
import { SupervisedSink } from "../../../core/pipeline/delivery/supervised-sink.js";
import { MemoryChannel } from "../../../plugins/memory-channel/memory-channel.js";
import { channelIn } from "../../plugins/file-channel/channel-folder.js";
import { chainTo } from "../../support/delivering.js";
import { recordingLog } from "../../support/recording-log.js";
import { ScriptedSink } from "../../support/scripted-sink.js";
import { tempFolder } from "../../support/temp-folder.js";

const { log } = recordingLog();
const clock = { now: () => new Date(0) };

async function outlets(context: TestContext) {
  const folder = await tempFolder(context);
  const config = { capacity: 10, transactionCapacity: 10, "keep-alive": 0 };
  const memory = new MemoryChannel(config, { name: "m", log, dataDir: folder, run: "run", now: clock.now });
  const durable = new ChannelOutlet(new CountedChannel(channelIn(folder).channel));
  return { durable, forgetting: new ChannelOutlet(new CountedChannel(memory)), deadLetters: new DeadLetters(folder) };
}

test("behind a durable channel a batch passes these parts in this order", async (context) => {
  const { durable, deadLetters } = await outlets(context);

  const { chain } = chainTo({ sink: new ScriptedSink(), deadLetters, log, outlet: durable });

  assert.deepEqual(namesOf(chain.first), ["catch up", "retry", "split", "measure", "supervise", "sink"]);
  assert.equal(chain.first, chain.catchUp);
});

test("behind a channel that forgets there is nothing to catch up with", async (context) => {
  const { deadLetters } = await outlets(context);

  const { chain } = chainTo({ sink: new ScriptedSink(), deadLetters, log });

  assert.deepEqual(namesOf(chain.first), ["retry", "split", "measure", "supervise", "sink"]);
});

test("behind a channel that redelivers the store is asked before anything is tried", async (context) => {
  const { durable, deadLetters } = await outlets(context);

  const { chain } = chainTo({ sink: new ScriptedSink(), deadLetters, log, outlet: durable, redelivers: true });

  assert.deepEqual(namesOf(chain.first), ["catch up", "hold back", "retry", "split", "measure", "supervise", "sink"]);
});

test("behind a channel that holds apart the store is asked before anything is tried", async (context) => {
  const { durable, deadLetters } = await outlets(context);

  const { chain } = chainTo({ sink: new ScriptedSink(), deadLetters, log, outlet: durable, holdsApart: true });

  assert.deepEqual(namesOf(chain.first), ["catch up", "hold back", "retry", "split", "measure", "supervise", "sink"]);
});

test("while tracing is on a batch has its span before anything else happens to it", async (context) => {
  const { durable, deadLetters } = await outlets(context);
  const create = () => new ScriptedSink();
  const sink = new SupervisedSink({ name: "s1", create, persistTimeout: 0, log, clock });
  const retry = { batchTtl: 0, batchRetryIntervals: [1] };
  const common = { name: "s1", sink, retry, deadLetters, counters: new SinkCounters(), log, clock };
  const positions = { gate: durable.gate, keepers: [{ name: "s1", sink }] };

  const chain = deliveryChain({ ...common, positions, tracing: { delivery: () => undefined }, channel: "c" });

  assert.deepEqual(namesOf(chain.first).slice(0, 3), ["trace", "catch up", "retry"]);
});

test("the way forks in a group: each of its sinks is supervised by itself", async (context) => {
  const { deadLetters } = await outlets(context);
  const members = ["a", "b"].map((name) => {
    const create = () => new ScriptedSink();
    return {
      name,
      sink: new SupervisedSink({ name, create, persistTimeout: 0, log, clock }),
      counters: new SinkCounters(),
    };
  });
  const processor = { order: (names: readonly string[]) => names, succeeded: () => {}, failed: () => {} };
  const group = new SinkGroup({ name: "g", members, processor, log });
  const retry = { batchTtl: 0, batchRetryIntervals: [1] };

  const chain = deliveryChain({ name: "g", sink: group, retry, deadLetters, counters: group.counters, log, clock });

  assert.deepEqual(namesOf(chain.first), ["retry", "split", "measure", "group"]);
  assert.deepEqual(
    members.map(({ sink }) => namesOf(sink)),
    [
      ["supervise", "sink"],
      ["supervise", "sink"],
    ],
  );
});
