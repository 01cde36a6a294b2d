import { FailureLog } from "../../sdk/failure-log.js";
import { codeOf, type Event, type Logger, positionFaults, type Receipt } from "../../sdk/index.js";
import { AskedPositions, type AskedPositionsParts, type PositionKeeper } from "./asked-positions.js";
import { isPositionFault } from "./kinds-of-failure.js";
import type { GateTicket, PositionGate } from "./position-gate.js";
import { intervalOf, type RetryPolicy, wait } from "./retry-policy.js";
import { type Course, nothingSent, type Stage } from "./stage.js";
import type { TakenBatch } from "./taken-batch.js";

interface CatchUpParts extends AskedPositionsParts {
  readonly gate: PositionGate;
  readonly retry: RetryPolicy;
  readonly log: Logger;
}

/**
 * Sees to it that nothing is stored twice behind a durable channel. Before the first take it asks the sinks for the
 * positions they have stored and passes the gate of the channel. Later it holds a batch back for as long as a stored
 * position is not the one of this channel, or of this agent: nothing is written until an operator has decided.
 */
export class CatchUp implements Stage {
  readonly name = "catch up";
  readonly next: Stage;
  readonly #parts: CatchUpParts;
  readonly #failures: FailureLog;
  readonly #asked: AskedPositions;
  #ticket: GateTicket | undefined;
  /** Positions that a sink reported after others had begun to take: compared with every batch. */
  #late: readonly LatePosition[] = [];

  constructor(parts: CatchUpParts, next: Stage) {
    this.#parts = parts;
    this.next = next;
    this.#asked = new AskedPositions(parts);
    this.#failures = new FailureLog(parts.log, "the stored position is used again: delivery goes on");
  }

  /** From now on the gate of the channel waits for this feed. */
  join(): void {
    this.#ticket ??= this.#parts.gate.join();
  }

  /** From now on the gate does not wait for this feed. */
  leave(): void {
    this.#ticket?.leave();
  }

  /** Before the first take; false when the signal aborts first. */
  async pass(signal: AbortSignal): Promise<boolean> {
    this.join();
    for (let attempt = 1; ; attempt += 1) {
      const told = await this.#asked.told(signal);
      if (signal.aborted) return false;
      if (await this.#skipped(told)) {
        this.#failures.works();
        return (await this.#ticket?.arrive(signal)) ?? false;
      }
      if (!(await wait(intervalOf(this.#parts.retry, attempt), signal))) return false;
    }
  }

  async deliver(batch: TakenBatch, course: Course): Promise<Receipt> {
    for (let attempt = 1; ; attempt += 1) {
      try {
        const rest = this.#withoutStored(attempt === 1 ? batch : batch.open());
        const receipt = rest.events.length === 0 ? nothingSent : await this.next.deliver(rest, course);
        this.#failures.works();
        return receipt;
      } catch (error) {
        if (course.signal.aborted || !isPositionFault(error)) throw error;
        await this.#hold(error, attempt, course);
      }
    }
  }

  /** Waits for the remedy until the next try; throws when the delivery ends before that. */
  async #hold(error: unknown, attempt: number, { hurry }: Course): Promise<void> {
    this.#report(error, "nothing is written: the stored position is not the one of this agent");
    if (!(await wait(intervalOf(this.#parts.retry, attempt), hurry))) throw error;
    if (codeOf(error) !== positionFaults.foreign || this.#late.length === 0) return;
    this.#late = latePositions(await this.#asked.told(hurry));
    if (hurry.aborted) throw error;
  }

  async #skipped(told: ReadonlyMap<PositionKeeper, readonly string[]>): Promise<boolean> {
    let isLate = false;
    for (const [{ sink }, positions] of told) {
      try {
        for (const position of positions) if (!(await this.#ticket?.skip(position))) isLate = true;
        sink.health?.works();
      } catch (error) {
        sink.health?.failed(error);
        this.#report(error, "nothing is delivered: what is stored already cannot be left out, will be tried again");
        return false;
      }
    }
    if (isLate) this.#late = latePositions(told);
    return true;
  }

  #withoutStored(batch: TakenBatch): TakenBatch {
    if (this.#late.length === 0) return batch;
    const stored = this.#late.flatMap((late) => coveredBy(batch, late));
    if (stored.length === 0) return batch;
    batch.settleFound(stored);
    this.#parts.log.info({ events: stored.length }, "events that are stored already are left out");
    return batch.open();
  }

  #report(error: unknown, message: string): void {
    this.#failures.failed("error", error, { message });
  }
}

interface LatePosition {
  readonly keeper: PositionKeeper;
  readonly position: string;
}

function latePositions(told: ReadonlyMap<PositionKeeper, readonly string[]>): readonly LatePosition[] {
  return [...told].flatMap(([keeper, positions]) => positions.map((position) => ({ keeper, position })));
}

function coveredBy(batch: TakenBatch, { keeper, position }: LatePosition): readonly Event[] {
  try {
    return batch.coveredBy(position);
  } catch (error) {
    keeper.sink.health?.failed(error);
    throw error;
  }
}
