import assert from "node:assert/strict";
import { test } from "node:test";
import { Consumer } from "@platformatic/kafka";
import { examiner } from "../../../core/agent/examination/examiner.js";
import type { KafkaCluster } from "../../../plugins/kafka/client/cluster.js";
import { answersKafka, NO_KAFKA } from "../../support/provided-kafka.js";
import { until } from "../../support/until.js";
import { findingsOf } from "./findings.js";
import { foreignMember, withoutBrokersAssigning } from "./foreign-member.js";
import { newSource, runningSource } from "./running-source.js";
import { connection, ownTopic } from "./topic-client.js";

const skip = (await answersKafka()) ? false : NO_KAFKA;

/** Joins a group as consumers of other programs do. Returns what leaves it. */
async function classicMember(_cluster: KafkaCluster, group: string): Promise<() => Promise<void>> {
  const consumer = new Consumer({
    clientId: "other-program",
    groupId: group,
    bootstrapBrokers: [...connection.bootstrap_servers],
  });
  consumer.topics.trackAll(group);
  await consumer.joinGroup();
  return async () => await consumer.close(true);
}

const members = [
  { what: "another program", join: classicMember, says: /"other-program" at \/127\.0\.0\.1/, needs: false },
  {
    what: "a consumer of the newer protocol",
    join: foreignMember,
    says: /one of type consumer, in which brokers spread the partitions/,
    needs: await withoutBrokersAssigning(),
  },
];

for (const { what, join, says, needs } of members)
  test(`the last probe of a source fails while ${what} is in its group, and says so`, {
    skip: skip || needs,
  }, async (context) => {
    const { topic, make, cluster } = await ownTopic(context);
    await make(topic);
    const found = async () => (await groupFinding(topic)) ?? "";

    const leave = await join(cluster, topic);
    const during = await until(found, (text) => text.startsWith("failed"));
    await leave();

    assert.match(during, /^failed: other programs are members of it: /);
    assert.match(during, says);
    assert.match(during, / => stop them .*, or give the source a group of its own$/);
    await until(found, (text) => text === "ok: it begins at the earliest record => ");
  });

test("the probes of a source find nothing wrong with the sources that are in its group", { skip }, async (context) => {
  const { topic, make } = await ownTopic(context);
  await make(topic);
  const { logged } = await runningSource(context, { config: { topics: [topic], group: topic } });
  await logged("reading");

  assert.match((await groupFinding(topic)) ?? "", /^ok: /);
});

async function groupFinding(topic: string): Promise<string | undefined> {
  const { source } = newSource({ topics: [topic], group: topic });
  const probes = source.probes(examiner({ now: () => new Date() }));
  return (await findingsOf("source", probes)).at(-1);
}
