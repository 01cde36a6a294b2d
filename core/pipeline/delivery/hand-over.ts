import { AgentError, type Logger, type Receipt } from "../../sdk/index.js";
import type { CrashWatch } from "../crash-watch.js";
import type { InHand } from "../in-hand.js";
import type { DeadLetterKeeper } from "./dead-letter-keeper.js";
import { type Course, nothingSent, type Stage, sumOf } from "./stage.js";
import type { TakenBatch } from "./taken-batch.js";

interface HandOverStageParts {
  /** Of the sink or the group. */
  readonly name: string;
  readonly crashWatch: Pick<CrashWatch, "of">;
  readonly keeper: DeadLetterKeeper;
  readonly log: Logger;
}

/**
 * Notes which events are in the hands of the sink, so that the next process knows which ones this one died with. After
 * such a death the same events are handed over one at a time, until they are through; the one that ends the process twice
 * alone becomes a dead letter.
 */
export class HandOver implements Stage {
  readonly name = "hand over";
  readonly next: Stage;
  readonly #parts: HandOverStageParts;
  #known: InHand | undefined;

  constructor(parts: HandOverStageParts, next: Stage) {
    this.#parts = parts;
    this.next = next;
  }

  async deliver(batch: TakenBatch, course: Course): Promise<Receipt> {
    const inHand = this.#inHand;
    if (inHand.suspicion === undefined) return await this.#hand(batch, course);
    let rest = batch;
    let receipt = nothingSent;
    while (inHand.suspicion !== undefined && rest.events.length > 0) {
      const [first, others] = rest.parted(1);
      receipt = sumOf(receipt, await this.#alone(first, course));
      for (const event of first.events) inHand.passed(event);
      rest = others;
    }
    return rest.events.length === 0 ? receipt : sumOf(receipt, await this.#hand(rest, course));
  }

  async #alone(batch: TakenBatch, course: Course): Promise<Receipt> {
    const { keeper, log } = this.#parts;
    const inHand = this.#inHand;
    const [event] = batch.events;
    if (event === undefined || !inHand.isSetAside(event)) {
      await inHand.watched();
      return await this.#hand(batch, course);
    }
    const attempts = inHand.suspicion?.deaths ?? 0;
    const message = `handing an event to its sink: the process ended ${attempts} times while it was alone in hand`;
    const error = new AgentError("CRASHED_THE_AGENT", message, { retryable: false });
    log.error({ deaths: attempts }, "an event that ended the process is set aside");
    await keeper.keep(batch, { error, attempts, reason: "crashed-the-agent" }, course);
    return nothingSent;
  }

  /** Not before the first batch: the marks are read at the start of the agent. */
  get #inHand(): InHand {
    this.#known ??= this.#parts.crashWatch.of(this.#parts.name);
    return this.#known;
  }

  async #hand(batch: TakenBatch, course: Course): Promise<Receipt> {
    const inHand = this.#inHand;
    inHand.begin(batch.events);
    try {
      return await this.next.deliver(batch, course);
    } finally {
      inHand.end();
    }
  }
}
