import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { type TestContext, test } from "node:test";
import { AgentError, type Event } from "../../../core/sdk/index.js";
import { readMetadata } from "../../../plugins/kafka/client/topics.js";
import { Coordinator } from "../../../plugins/kafka/source/coordinator.js";
import { answersKafka, NO_KAFKA } from "../../support/provided-kafka.js";
import { until } from "../../support/until.js";
import { putOutMembers } from "./put-out-members.js";
import { notificationRecord, numberOf, runningSource } from "./running-source.js";
import { ownTopic } from "./topic-client.js";

const skip = (await answersKafka()) ? false : NO_KAFKA;

const SIX = [0, 1, 2, 3, 4, 5];

test("a source that its group has put out joins again and reads nothing twice, although its offsets were not committed", {
  skip,
}, async (context) => {
  const { topic, make, write, cluster } = await ownTopic(context);
  await make(topic);
  const config = { topics: [topic], group: topic, commit_interval: 3_600_000 };
  await write(topic, 0, [notificationRecord(0)]);
  const first = await runningSource(context, { config });
  await first.received(1);
  await first.stop();
  const second = await runningSource(context, { config });
  await write(topic, 0, [notificationRecord(1), notificationRecord(2)]);
  await second.received(2);

  await putOutMembers(cluster, topic);
  await until(
    async () => second.lines.filter(({ message }) => message === "reading"),
    (begun) => begun.length === 2,
  );
  await write(topic, 0, [notificationRecord(3)]);

  assert.deepEqual(await second.received(3), [1, 2, 3]);
  await second.stop();
  const third = await runningSource(context, { config });
  await write(topic, 0, [notificationRecord(4)]);
  assert.deepEqual(await third.received(1), [4]);
});

test("a source reads again all from where a tool has moved its offsets meanwhile, also when it joins once more in the middle", {
  skip,
}, async (context) => {
  let isHeld = false;
  const emit = async ([event]: readonly Event[]) => {
    if (event !== undefined && isHeld && numberOf(event) > 1) throw new AgentError("FULL", "full", { retryable: true });
  };
  const { received, logged, moved, committed, putOut } = await sourceOfSix(context, emit);
  isHeld = true;
  await moved({ offset: 0 });
  await received(8);
  await committed(2);
  const before = (await logged("reading")).length;

  await putOut();
  await until(
    () => logged("reading"),
    ({ length }) => length > before,
  );
  isHeld = false;

  assert.deepEqual(await received(12), [...SIX, ...SIX]);
});

test("where a tool has moved the offsets and another source has read on from there, a source goes on behind that one", {
  skip,
}, async (context) => {
  const { received, moved, topicId } = await sourceOfSix(context);

  await moved({ offset: 2, note: topicId });

  assert.deepEqual(await received(10), [...SIX, 2, 3, 4, 5]);
});

const foreignNotes = {
  "of another program": "checkpoint 1",
  "of a source of another cluster, as MirrorMaker copies it": `${randomUUID()}//another-cluster`,
};

for (const [what, note] of Object.entries(foreignNotes))
  test(`offsets with a note ${what} are where reading goes on`, { skip }, async (context) => {
    const { received, moved } = await sourceOfSix(context);

    await moved({ offset: 4, note });

    assert.deepEqual(await received(8), [...SIX, 4, 5]);
  });

/** A source that has read six records of its topic, which its group knows. */
async function sourceOfSix(context: TestContext, emit?: (events: readonly Event[]) => Promise<void>) {
  const { topic, make, write, cluster } = await ownTopic(context);
  await make(topic);
  await write(
    topic,
    0,
    SIX.map((n) => notificationRecord(n)),
  );
  const config = { topics: [topic], group: topic };
  const source = await runningSource(context, { config, ...(emit === undefined ? {} : { emit }) });
  const coordinator = new Coordinator(cluster, topic);
  const committed = async (offset: number) => {
    await until(
      () => coordinator.committed([{ topic, partition: 0 }]),
      ([known]) => known?.offset === offset,
    );
  };
  const putOut = () => putOutMembers(cluster, topic);
  /** As kafka-consumer-groups.sh does, which leaves no note; with one, as another source of the group does. */
  const moved = async ({ offset, note = "" }: { readonly offset: number; readonly note?: string | undefined }) => {
    const nobody = { generation: -1, memberId: "" };
    const { signal } = new AbortController();
    // Nobody may move them once the source has joined again.
    await until(
      async () => {
        await putOut();
        const at = { topic, partition: 0, offset, epoch: -1, note };
        return await coordinator.commit(nobody, [at], signal).catch((error: unknown) => error);
      },
      (error) => error === undefined,
    );
  };
  await source.received(SIX.length);
  await committed(SIX.length);
  const { topics } = await readMetadata(cluster, [topic]);
  return { ...source, committed, putOut, moved, topicId: topics.get(topic)?.id };
}
