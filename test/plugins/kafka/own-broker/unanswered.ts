import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { type TestContext, test } from "node:test";
import { codeOf } from "../../../../core/sdk/index.js";
import { collect, put } from "../../../../core/testing/channel-fixture.js";
import { KafkaLog } from "../../../../plugins/kafka/log/kafka-log.js";
import { openLogChannel } from "../../../log/opened-channel.js";
import { refusalsOfLog } from "../../../log/unanswered-log.js";
import { logConfig } from "../kafka-engine.js";
import { failureOf, hastyLog, never, recordsOf, textsOf } from "../own-log.js";
import { kafka, skip } from "./broker.js";

test("what is put while a broker is frozen is stored once when it goes on", { skip }, async (context) => {
  const { channel, failed, records } = await openedChannel(context);
  await put(channel, 1);

  await kafka.freeze();
  context.after(() => kafka.thaw());
  const putting = put(channel, 2);
  await failed("LOG_UNANSWERED");
  const behind = await put(channel, 3).catch(codeOf);
  kafka.thaw();
  await putting;
  await put(channel, 4);

  assert.equal(behind, "LOG_UNAVAILABLE");
  assert.deepEqual((await collect(channel, 3)).bodies, [1, 2, 4]);
  assert.equal(await records(), 3);
});

test("what is put before a broker is killed is stored once when it is started again", { skip }, async (context) => {
  // On a busy machine it takes a minute to start.
  const { channel, failed, records } = await openedChannel(context, { outcome_timeout: 600 });
  await put(channel, 1);

  await kafka.freeze();
  context.after(() => kafka.thaw());
  const putting = put(channel, 2);
  await failed("LOG_UNANSWERED");
  await kafka.halt();
  await kafka.resume();
  await putting;

  assert.deepEqual((await collect(channel, 2)).bodies, [1, 2]);
  assert.equal(await records(), 2);
});

test("a put for which no broker can be reached is refused within request_timeout", { skip }, async (context) => {
  const { channel } = await openedChannel(context, { outcome_timeout: 1 });
  await put(channel, 1);

  await kafka.halt();
  // It may be on its way when the end of the connection is noticed.
  await put(channel, 2).catch(codeOf);
  const refused = await put(channel, 3).catch(codeOf);
  await kafka.resume();

  assert.equal(refused, "LOG_UNAVAILABLE");
});

test("a record that follows one that may be there is not taken for it", { skip }, async (context) => {
  const log = await hastyLog(context, kafka, 6000);
  await log.append(0, Buffer.from("first"), "1");

  await kafka.freeze();
  context.after(() => kafka.thaw());
  const failure = await failureOf(log.append(0, Buffer.from("second"), "2"));
  kafka.thaw();
  await log.append(0, Buffer.from("third"), "3");

  assert.equal(failure.code, "LOG_UNANSWERED");
  assert.match(failure.message, /whether the record is in the topic is not known/);
  const kept = textsOf(await recordsOf(log, 0));
  assert.deepEqual([kept[0], kept.at(-1)], ["first", "third"]);
});

/** A channel of one partition. */
async function openedChannel(context: TestContext, config: { readonly outcome_timeout?: number } = {}) {
  const topic = `log-${randomBytes(6).toString("hex")}`;
  const { watched, failed } = refusalsOfLog();
  const settings = logConfig(topic, { bootstrap_servers: [kafka.address], partitions: 1, request_timeout: 6000 });
  const engine = () => watched(new KafkaLog(settings, 'channel "log"'));
  // It keeps its part while the broker is away.
  const channel = await openLogChannel({ folder: topic, engine, config: { session_timeout: 60, ...config } });
  context.after(() => channel.stop(AbortSignal.abort()));
  /** How many there are of the events. */
  const records = async () => {
    const log = new KafkaLog(settings, 'channel "log"');
    context.after(() => log.close(never()));
    await log.open(never());
    return (await recordsOf(log, 0)).length;
  };
  return { channel, failed, records };
}
