import type { Logger, MetricCounter } from "deneb/sdk";
import type { Place } from "../client/directory.js";

/** Reports records that nobody can read any more. */
export class Losses {
  readonly #log: Logger;
  readonly #counter: MetricCounter | undefined;

  constructor(log: Logger, counter: MetricCounter | undefined) {
    this.#log = log;
    this.#counter = counter;
  }

  /** Records were removed before they were read, by the retention of the topic or by hand. */
  removed({ topic, partition }: Place, from: number, to: number): void {
    this.#counter?.add(to - from, { topic });
    const message = "records were removed from the topic before they were read; see its retention";
    this.#log.error({ topic, partition, from, to, lost: to - from }, message);
  }

  /** A broker without all records became the leader of the partition: what was read of it is gone from `to` on. */
  truncated({ topic, partition }: Place, from: number, to: number): void {
    const message =
      "the brokers have lost records of the partition that were read; reading goes on where they end, with those that got their offsets";
    this.#log.error({ topic, partition, from, to }, message);
  }

  remade({ topic, partition }: Place, to: number): void {
    const message = "the topic was removed and made again; reading begins at its oldest record";
    this.#log.warn({ topic, partition, to }, message);
  }
}
