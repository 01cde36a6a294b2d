import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { test } from "node:test";
import { openCluster } from "../../../plugins/kafka/client/open-cluster.js";
import { createTopics } from "../../../plugins/kafka/client/topics.js";
import { answersKafka, kafkaOfTests, NO_KAFKA } from "../../support/provided-kafka.js";
import { until } from "../../support/until.js";
import { logConfig, removeTopics } from "./kafka-engine.js";
import { failureOf, never, ownLog, recordsOf, textsOf } from "./own-log.js";

const skip = (await answersKafka()) ? false : NO_KAFKA;
const server = { address: kafkaOfTests() };

interface Made {
  readonly partitions?: number;
  readonly settings?: Readonly<Record<string, string>>;
}

async function madeTopic({ partitions = 2, settings = {} }: Made): Promise<string> {
  const topic = `made-${randomBytes(6).toString("hex")}`;
  const cluster = await openCluster(logConfig(topic), "the test", never());
  await createTopics(cluster, [{ name: topic, partitions, replicas: 1, settings }]);
  cluster.close();
  return topic;
}

/** Sets what is given of a topic that is there, as kafka-configs.sh and kafka-topics.sh do. */
async function alter(topic: string, { partitions, settings = {} }: Made): Promise<void> {
  const cluster = await openCluster(logConfig(topic), "the test", never());
  const { IncrementalAlterConfigOperationTypes, ConfigResourceTypes } = cluster.library;
  const configOperation = IncrementalAlterConfigOperationTypes.SET;
  const configs = Object.entries(settings).map(([name, value]) => ({ name, value, configOperation }));
  const resources = [{ resourceType: ConfigResourceTypes.TOPIC, resourceName: topic, configs }];
  await cluster.askAny(
    async (connection, library) => await library.incrementalAlterConfigsV1.api.async(connection, resources, false),
  );
  if (partitions !== undefined) {
    const topics = [{ name: topic, count: partitions, assignments: null }];
    await cluster.askAny(
      async (connection, library) =>
        await library.createPartitionsV3.api.async(connection, topics, cluster.lookMillis, false),
    );
  }
  cluster.close();
}

const wrong: readonly (Made & { readonly what: string; readonly says: RegExp })[] = [
  {
    what: "is compacted",
    settings: { "cleanup.policy": "compact" },
    says: /cleanup\.policy = compact.*set it to delete/,
  },
  {
    what: "has fewer partitions than are wanted",
    partitions: 1,
    says: /has 1 partition, and partitions = 2;.*--partitions 2/,
  },
  { what: "takes only tiny records", settings: { "max.message.bytes": "1000" }, says: /max\.message\.bytes = 1000/ },
];

for (const { what, says, ...made } of wrong)
  test(`a topic that ${what} is refused with what to do`, { skip }, async (context) => {
    const topic = await madeTopic(made);
    const failure = await failureOf(ownLog(context, server, { topic }).open(never()));
    await removeTopics(topic);

    assert.deepEqual([failure.code, failure.retryable], ["LOG_SETTINGS", false]);
    assert.match(failure.message, says);
  });

const risky: readonly (Made & { readonly what: string; readonly says: RegExp })[] = [
  { what: "has one replica", says: /has one replica/ },
  {
    what: "removes events after a time",
    settings: { "retention.ms": "1000000" },
    says: /retention\.ms = 1000000.*set it to -1/,
  },
  {
    what: "removes events beyond a size",
    settings: { "retention.bytes": "1000000" },
    says: /retention\.bytes = 1000000/,
  },
  {
    what: "may be taken over by a broker that lacks events",
    settings: { "unclean.leader.election.enable": "true" },
    says: /unclean/,
  },
  { what: "has more partitions than are wanted", partitions: 3, says: /has 3 partitions, and all are used/ },
];

for (const { what, says, ...made } of risky)
  test(`a topic that ${what} is used with a warning`, { skip }, async (context) => {
    const topic = await madeTopic(made);
    const { warnings, partitions } = await ownLog(context, server, { topic }).open(never());
    await removeTopics(topic);

    assert.match(warnings.join("\n"), says);
    assert.equal(partitions, made.partitions ?? 2);
  });

const altered: readonly (Made & { readonly what: string; readonly says: RegExp })[] = [
  {
    what: "removes events after a time from now on",
    settings: { "retention.ms": "1000000" },
    says: /retention\.ms = 1000000.*set it to -1/,
  },
  {
    what: "got more partitions",
    partitions: 3,
    // And not also that all are used.
    says: /^topic "\S+" has 3 partitions now, and this agent uses 2; start all agents again, one after another\ntopic "\S+" has one replica/,
  },
  {
    what: "is compacted from now on",
    settings: { "cleanup.policy": "compact" },
    says: /^LOG_SETTINGS keeping the log/,
  },
];

for (const { what, says, ...change } of altered)
  test(`a topic that ${what} is noticed while its log is open`, { skip }, async (context) => {
    const topic = await madeTopic({ settings: { "retention.ms": "-1" } });
    const log = ownLog(context, server, { topic });
    const { warnings: before } = await log.open(never());
    const look = () =>
      log.settings().then(
        ({ warnings }) => warnings.join("\n"),
        ({ code, message }) => `${code} ${message}`,
      );
    const unchanged = await look();

    await alter(topic, change);
    const said = await until(look, (text) => text !== unchanged);
    await removeTopics(topic);

    assert.equal(unchanged, before.join("\n"));
    assert.match(said, says);
  });

test("a log takes larger records as soon as it has seen that its topic does", { skip }, async (context) => {
  const topic = await madeTopic({ settings: { "max.message.bytes": "70000" } });
  const log = ownLog(context, server, { topic });
  await log.open(never());
  const large = Buffer.alloc(100_000);
  const refused = await failureOf(log.append(0, large));

  await alter(topic, { settings: { "max.message.bytes": "1000000" } });
  await until(
    () => log.settings(),
    ({ largestRecord }) => largestRecord > large.length,
  );
  const { offset } = await log.append(0, large);
  await removeTopics(topic);

  assert.deepEqual([refused.code, offset], ["RECORD_TOO_LARGE", 0]);
});

const HOUR = 3_600_000;

test("a log takes records while the clock of the agent is hours ahead of that of the broker, or years behind", {
  skip,
}, async (context) => {
  const log = ownLog(context, server);
  await log.open(never());
  const now = Date.now();

  context.mock.timers.enable({ apis: ["Date"], now: now + 2 * HOUR });
  await log.append(0, Buffer.from("ahead"));
  context.mock.timers.setTime(0);
  await log.append(0, Buffer.from("behind"));
  context.mock.timers.reset();

  assert.deepEqual(textsOf(await recordsOf(log, 0)), ["ahead", "behind"]);
});

test("a topic of somebody else that refuses records of a clock that is ahead says what to do", {
  skip,
}, async (context) => {
  const settings = { "message.timestamp.type": "CreateTime", "message.timestamp.after.max.ms": String(HOUR) };
  const topic = await madeTopic({ settings });
  const log = ownLog(context, server, { topic });
  await log.open(never());

  context.mock.timers.enable({ apis: ["Date"], now: Date.now() + 2 * HOUR });
  const failure = await failureOf(log.append(0, Buffer.from("ahead")));
  context.mock.timers.reset();
  await removeTopics(topic);

  assert.match(
    failure.message,
    /INVALID_TIMESTAMP, .*set the clocks right, or .*message\.timestamp\.type = LogAppendTime/,
  );
});

test("a topic that is missing and must not be made is named", { skip }, async (context) => {
  const failure = await failureOf(ownLog(context, server, { topic: "nowhere", create_topic: false }).open(never()));

  assert.equal(failure.code, "LOG_SETTINGS");
  assert.match(
    failure.message,
    /no topic "nowhere", "nowhere\.agents", "nowhere\.letters"; make it, or set create_topic/,
  );
});

test("the probes of a log connect, and find or would make its topics without leaving any", {
  skip,
}, async (context) => {
  const log = ownLog(context, server);
  const examiner = {
    folder: () => assert.fail(),
    port: () => assert.fail(),
    certificate: () => assert.fail("there is no TLS"),
  };
  const outcomes = async () => {
    const [connect] = log.probes(examiner);
    const first = await connect?.run(never());
    const second = await connect?.next?.[0]?.run(never());
    return [first?.outcome, second?.outcome, second?.reason ?? ""] as const;
  };

  const [connected, , before] = await outcomes();
  assert.equal(connected, "ok");
  assert.match(before, /will be made at the start/);
  await log.open(never());
  const [, found, after] = await outcomes();
  assert.equal(found, "warning");
  assert.match(after, /2 partitions.*one replica/);
});
