import { AgentError, codeOf, pause, retryableOf } from "../sdk/index.js";
import type { Repeating } from "./part-appender.js";
import type { Appended, PartitionedLog } from "./partitioned-log.js";

const PAUSE_MILLIS = 250;

interface RepeatedAppendParts {
  readonly log: Pick<PartitionedLog, "append">;
  /** For so long a record is appended again. */
  readonly millis: number;
  /** Called with what a try rejected with when there will be another one. */
  failed(error: unknown, part: number): void;
}

interface NamedRecord {
  readonly part: number;
  readonly value: Uint8Array;
  /** No other record has it. */
  readonly name: string;
}

/**
 * Appends a record again, under its name, while nobody knows whether it is in the log, or while only a part of what was put
 * together is: whoever hears that it failed puts all of it again.
 */
export class RepeatedAppend {
  readonly #parts: RepeatedAppendParts;
  readonly #pausing = new Set<AbortController>();
  /** Ends the wait for what is on its way. No set: its tables would hold what was put (docs/decisions/0086). */
  readonly #waiting: ((error: unknown) => void)[] = [];
  #isEnded = false;

  constructor(parts: RepeatedAppendParts) {
    this.#parts = parts;
  }

  async append({ part, value, name }: NamedRecord, { isHalfPut, again }: Repeating): Promise<Appended> {
    const { log, millis, failed } = this.#parts;
    const end = performance.now() + millis;
    if (this.#isEnded) throw stopping("LOG_UNAVAILABLE", "it is not there");
    for (;;) {
      try {
        return await this.#untilEnd(log.append(part, value, name));
      } catch (error) {
        const mayBeThere = codeOf(error) === "LOG_UNANSWERED";
        const isRepeated = mayBeThere || (retryableOf(error) === true && isHalfPut());
        if (!isRepeated || performance.now() >= end || this.#isEnded) throw error;
        failed(error, part);
        again(error, mayBeThere);
        await this.#pause();
        if (this.#isEnded) throw error;
      }
    }
  }

  /** Nothing is appended any more, and what is on its way is not waited for. */
  end(): void {
    this.#isEnded = true;
    for (const reject of this.#waiting.splice(0))
      reject(stopping("LOG_UNANSWERED", "whether it is there is not known"));
    for (const pausing of this.#pausing) pausing.abort();
  }

  #untilEnd(appending: Promise<Appended>): Promise<Appended> {
    return new Promise((resolve, reject) => {
      this.#waiting.push(reject);
      const settled = () => {
        const at = this.#waiting.indexOf(reject);
        if (at !== -1) this.#waiting.splice(at, 1);
      };
      appending.finally(settled).then(resolve, reject);
    });
  }

  async #pause(): Promise<void> {
    const pausing = new AbortController();
    this.#pausing.add(pausing);
    await pause(PAUSE_MILLIS, pausing.signal);
    this.#pausing.delete(pausing);
  }
}

function stopping(code: "LOG_UNANSWERED" | "LOG_UNAVAILABLE", known: string): AgentError {
  return new AgentError(code, `appending a record: the agent stops; ${known}`, { retryable: true });
}
