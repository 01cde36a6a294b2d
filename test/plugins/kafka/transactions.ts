import { randomUUID } from "node:crypto";
import type { TestContext } from "node:test";
import { loadLibrary } from "../../../plugins/kafka/client/library.js";
import type { Message } from "../../../plugins/kafka/client/outgoing.js";
import { connection } from "./topic-client.js";

/** After which the broker aborts a transaction. */
const LONGEST_MILLIS = 300_000;

/** A transaction that goes on. */
export interface OpenTransaction {
  write(topic: string, partition: number, messages: readonly Message[]): Promise<void>;
  commit(): Promise<void>;
  abort(): Promise<void>;
}

/** Begins a transaction of a producer of its own, as users of Kafka write them. */
export async function begunTransaction(
  context: TestContext,
  bootstrapBrokers: readonly string[] = connection.bootstrap_servers,
): Promise<OpenTransaction> {
  const { Producer } = await loadLibrary();
  const transactionalId = randomUUID();
  const producer = new Producer({
    clientId: "deneb-test",
    bootstrapBrokers: [...bootstrapBrokers],
    idempotent: true,
    transactionalId,
    timeout: LONGEST_MILLIS,
  });
  context.after(() => producer.close(true));
  const transaction = await producer.beginTransaction();
  return {
    write: async (topic, partition, messages) => {
      await transaction.send({ messages: messages.map((message) => ({ ...message, topic, partition })) });
    },
    commit: () => transaction.commit(),
    abort: () => transaction.abort(),
  };
}
