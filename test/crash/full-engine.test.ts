import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { type TestContext, test } from "node:test";
import { booksOf } from "../support/channel-books.js";
import { kafkaPrograms } from "../support/kafka-jars.js";
import { startOwnKafka } from "../support/own-kafka.js";
import { natsProgram, startOwnNats } from "../support/own-nats.js";
import { room, type StoringAgent, storingAgent } from "../support/storing-agent.js";
import { until } from "../support/until.js";
import { type SmallDisk, smallDisk } from "./small-disk.js";

/** An engine whose records are on a small disk. */
interface Engine {
  /** Lines of the channel. */
  readonly lines: readonly string[];
  /** Ends it, whether it still runs or not, and starts it again. */
  restart(): Promise<void>;
}

const kafka = await kafkaPrograms();
const nats = await natsProgram();

const engines = [
  {
    name: "Kafka",
    skip: kafka === undefined,
    start: async (context: TestContext, { folder }: SmallDisk): Promise<Engine | undefined> => {
      if (kafka === undefined) return undefined;
      const broker = await startOwnKafka(kafka, { lines: [`log.dirs=${folder}/data`] });
      context.after(() => broker.stop());
      const lines = ["type = kafka", `bootstrap_servers = ${broker.address}`, `topic = t-${randomUUID()}`];
      const restart = async () => {
        await broker.halt();
        await broker.resume();
      };
      return { lines, restart };
    },
  },
  {
    name: "JetStream",
    skip: nats === undefined,
    start: async (context: TestContext, { folder }: SmallDisk): Promise<Engine | undefined> => {
      if (nats === undefined) return undefined;
      const server = await startOwnNats(nats, { streams: `${folder}/streams` });
      context.after(() => server.stop());
      const restart = async () => {
        await server.halt();
        await server.resume();
      };
      return { lines: ["type = jetstream", `servers = ${server.url}`, `stream = s-${randomUUID()}`], restart };
    },
  },
];

for (const { name, skip, start } of engines)
  test(`while the disk of ${name} is full notifications are refused, and each one that was accepted is one row`, {
    skip: skip ? `${name} is not available` : false,
  }, async (context) => {
    const disk = await smallDisk();
    if (disk === undefined) return context.skip("needs the right to mount a file system");
    context.after(() => disk.remove());
    const engine = await start(context, disk);
    if (engine === undefined) return;
    const channel = [...engine.lines, "partitions = 2", "request_timeout = 1000", "outcome_timeout = 5"];
    const storing = await storingAgent(context, ...channel.map((line) => `deneb.channels.c.${line}`));
    if (storing === undefined) return;
    const sent = new Sent(storing);

    await sent.many(50, 200);
    await disk.fill();
    await until(
      () => sent.one(),
      (status) => status === 503,
    );
    for (let more = 0; more < 3; more += 1) await sent.one();
    const { status } = await fetch(`${storing.agent.managementUrl}/live`);
    assert.equal(status, 200, "the agent itself lives");
    await disk.makeRoom();
    await engine.restart();
    await until(
      () => sent.one(),
      (answer) => answer === 200,
    );
    await sent.many(50, 200);
    // More than was accepted may be stored: of what the engine did not answer in time nobody knows whether it is there.
    await until(
      () => booksOf(storing.agent),
      ({ waiting, received, stored }) => waiting === 0 && stored >= received,
    );

    const rows = await storing.database.query("SELECT entityid, count(*) AS count FROM svc.room GROUP BY entityid");
    const counts = new Map(rows.map(({ entityid, count }) => [entityid, Number(count)]));
    assert.ok(sent.accepted.length > 100);
    for (const id of sent.accepted) assert.equal(counts.get(id), 1, `${id} was accepted`);
    for (const [id, count] of counts) assert.equal(count, 1, `rows of ${id}`);
  });

/** Notifications, each of an entity of its own, one after another. */
class Sent {
  readonly accepted: string[] = [];
  readonly #to: StoringAgent;
  #count = 0;

  constructor(to: StoringAgent) {
    this.#to = to;
  }

  async one(): Promise<number> {
    this.#count += 1;
    const status = await this.#to.post([room(this.#count)]);
    if (status === 200) this.accepted.push(`urn:room:${this.#count}`);
    return status;
  }

  async many(count: number, status: number): Promise<void> {
    for (let at = 0; at < count; at += 1) assert.equal(await this.one(), status);
  }
}
