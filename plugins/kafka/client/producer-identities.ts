import type { KafkaCluster } from "./cluster.js";
import { KafkaError, protocolError } from "./kafka-error.js";
import type { Identity } from "./outgoing.js";

const NO_ERROR = 0;
/** Epochs are numbers of 15 bits. */
const LAST_EPOCH = 2 ** 15 - 1;

/**
 * The identities of one writer, each later than those before: the same producer in its next epoch. Once a partition has something of a later
 * one, its broker refuses what arrives under an earlier one, as from a network that delivers late: it would stand behind what followed it.
 */
export class ProducerIdentities {
  readonly #cluster: KafkaCluster;
  #last: Identity | undefined;
  #asking: Promise<void> | undefined;

  constructor(cluster: KafkaCluster) {
    this.#cluster = cluster;
  }

  /** One that nobody had. Rejects with a KafkaError. */
  async next(): Promise<Identity> {
    for (;;) {
      const last = this.#last;
      if (last !== undefined && last.producerEpoch < LAST_EPOCH) {
        this.#last = { ...last, producerEpoch: last.producerEpoch + 1 };
        return this.#last;
      }
      this.#asking ??= this.#ask().finally(() => {
        this.#asking = undefined;
      });
      await this.#asking;
    }
  }

  /** Of another producer. */
  async #ask(): Promise<void> {
    const { errorCode, producerId, producerEpoch } = await this.#cluster.askAny(
      async (connection, library) => await library.initProducerIdV4.api.async(connection, null, 0, -1n, -1),
    );
    if (errorCode !== NO_ERROR) throw notBegun(protocolError(this.#cluster.library, errorCode, "beginning to write"));
    this.#last = { producerId, producerEpoch };
  }
}

/** Brokers give identities to users that are allowed to write to any topic. */
function notBegun(error: KafkaError): KafkaError {
  if (error.kind !== "denied") return error;
  const message = `beginning to write: ${error.id}, the user may write to no topic; allow Write on those that are written`;
  return new KafkaError(error.kind, message, { id: error.id });
}
