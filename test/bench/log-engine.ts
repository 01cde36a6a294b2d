import { randomBytes } from "node:crypto";
import { connect } from "@nats-io/transport-node";
import { Admin } from "@platformatic/kafka";
import { kafkaOfTests } from "../support/provided-kafka.js";
import { natsOfTests } from "../support/provided-nats.js";

/** The engines of channels over a log, by the type of the channel. */
export type LogEngine = "kafka" | "jetstream";

/** A log of its own on the servers of the tests. */
export interface BenchLog {
  /** Properties of the channel that point an agent to it. */
  readonly properties: Readonly<Record<string, string>>;
  /** Name of the server's processes, for their CPU time. */
  readonly command: string;
  /** Removes it. */
  drop(): Promise<void>;
}

/** Undefined for a channel without a log. */
export async function logOfBench(channel: string, partitions = 8): Promise<BenchLog | undefined> {
  if (channel === "kafka") return kafkaLog(partitions);
  return channel === "jetstream" ? jetstreamLog(partitions) : undefined;
}

function kafkaLog(partitions: number): BenchLog {
  const topic = freshName();
  return {
    command: "java",
    properties: { bootstrap_servers: kafkaOfTests(), topic, partitions: String(partitions) },
    drop: async () => {
      const admin = new Admin({ clientId: "deneb-bench", bootstrapBrokers: [kafkaOfTests()], retries: 3 });
      try {
        const there = await admin.listTopics();
        await admin.deleteTopics({ topics: there.filter((name) => name === topic || name.startsWith(`${topic}.`)) });
      } catch (error) {
        console.error(`the topic ${topic} stays: ${error instanceof Error ? error.message : String(error)}`);
      } finally {
        await admin.close();
      }
    },
  };
}

function jetstreamLog(partitions: number): BenchLog {
  const stream = freshName();
  const { host, port } = natsOfTests();
  const servers = `nats://${host}:${port}`;
  return {
    command: "nats-server",
    properties: { servers, stream, partitions: String(partitions) },
    drop: async () => {
      const connection = await connect({ servers });
      try {
        await connection.request(`$JS.API.STREAM.DELETE.${stream}`);
      } finally {
        await connection.close();
      }
    },
  };
}

function freshName(): string {
  return `deneb-bench-${randomBytes(4).toString("hex")}`;
}
