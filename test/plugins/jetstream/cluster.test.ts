import assert from "node:assert/strict";
import { test } from "node:test";
import type { PartitionedLog } from "../../../core/log/index.js";
import { codeOf } from "../../../core/sdk/index.js";
import { readAll } from "../../../core/testing/log/log-case.js";
import { assertKept, goOn, type Writing, writing } from "../../log/writing.js";
import { until } from "../../support/until.js";
import { caughtUp, natsCluster } from "./cluster.js";
import { logOf, nameOfStream, never } from "./nats.js";

// Servers that share two cores with other tests may need several elections.
const ELECTED_MILLIS = 240_000;

test("in a cluster of three a server after another is killed, and no appended record is lost", async (context) => {
  const cluster = await natsCluster(context);
  if (cluster === undefined) return;
  const servers = cluster.map(({ url }) => url);
  const stream = nameOfStream();
  const config = { servers, stream, replicas: 3, request_timeout: 60_000 };
  const [one, other] = [logOf(context, config), logOf(context, config)];
  await until(
    () => openedOr(one),
    (code) => code !== "LOG_UNAVAILABLE",
    ELECTED_MILLIS,
  );
  const { warnings } = await other.open(never());
  const writers: Writing[] = [];

  for (const [round, server] of cluster.entries()) {
    const now = [writing(one, 0, `one ${round}`), writing(other, 0, `other ${round}`), writing(other, 1, `${round}`)];
    writers.push(...now);
    await goOn(now);
    await server.halt();
    await goOn(now);
    await server.resume();
    await goOn(now);
    for (const writer of now) await writer.stop();
    // Of three servers only one may be behind or away.
    await caughtUp(servers, stream);
  }

  for (const warning of warnings) assert.match(warning, /can become leader before it has caught up/);
  const log = logOf(context, config);
  await log.open(never());
  await assertKept(log, writers);
});

test("a cluster with fewer servers than replicas is waited for, and the stream is made when all are there", async (context) => {
  const cluster = await natsCluster(context, true);
  if (cluster === undefined) return;
  const [late] = cluster;
  const config = { servers: cluster.map(({ url }) => url), stream: nameOfStream(), replicas: 3, request_timeout: 5000 };
  const log = logOf(context, config);
  const whileAway = await openedOr(log);
  await late?.resume();

  assert.equal(whileAway, "LOG_UNAVAILABLE");
  await until(
    () => openedOr(log),
    (code) => code !== "LOG_UNAVAILABLE",
    ELECTED_MILLIS,
  );
  assert.deepEqual(await log.append(0, Buffer.from("first")), { offset: 1, previous: -1 });
});

test("two agents that append to a part of a cluster at the same moment get no wrong record before theirs", async (context) => {
  const cluster = await natsCluster(context);
  if (cluster === undefined) return;
  const servers = cluster.map(({ url }) => url);
  const parts = Array.from({ length: 64 }, (_, part) => part);
  const config = { stream: nameOfStream(), partitions: parts.length, replicas: 3, request_timeout: 60_000 };
  const logs = servers.slice(1).map((server) => logOf(context, { ...config, servers: [server] }));
  for (const log of logs)
    await until(
      () => openedOr(log),
      (code) => code !== "LOG_UNAVAILABLE",
      ELECTED_MILLIS,
    );
  const [one, other] = logs;
  const begun = await Promise.all(parts.map(async (part) => await one?.append(part, Buffer.from("first"))));
  for (const part of parts) if (other !== undefined) await readAll(other, part, { count: 1 });

  for (const part of parts) {
    const both = await Promise.all(logs.map((log) => log.append(part, Buffer.from("x"))));
    const records = [begun[part], ...both.toSorted((left, right) => left.offset - right.offset)];
    for (const [at, record] of records.entries())
      if (record?.previous !== undefined) assert.equal(record.previous, records[at - 1]?.offset ?? -1);
  }
});

/** The code of what opening it rejects with. */
async function openedOr(log: PartitionedLog): Promise<string | undefined> {
  try {
    await log.open(never());
    return undefined;
  } catch (error) {
    return codeOf(error);
  }
}
