import { AgentError, type Logger, reasonOf } from "deneb/sdk";

/** Milliseconds between two lines about failures: a disk that is nearly full takes small events and refuses large ones. */
const BETWEEN_FAILURES = 60_000;

/** Whether events can be written; logs when that changes. */
export class DiskState {
  readonly #channel: string;
  readonly #folders: readonly string[];
  readonly #log: Logger;
  readonly #now: () => number;
  /** True from the line about a failure to the one that it is over. */
  #isTold = false;
  #quietUntil = Number.NEGATIVE_INFINITY;

  /** `now` is a steady clock in milliseconds. */
  constructor(channel: string, folders: readonly string[], log: Logger, now: () => number = () => performance.now()) {
    this.#channel = channel;
    this.#folders = folders;
    this.#log = log;
    this.#now = now;
  }

  succeeded(): void {
    if (this.#isTold) this.#log.info({ folders: this.#folders }, "events are written again");
    this.#isTold = false;
  }

  /** The error for the puts that failed. A sender may read its message: the folders are in the log alone. */
  failed(cause: unknown): AgentError {
    const reason = reasonOf(cause);
    if (!this.#isTold && this.#now() >= this.#quietUntil) {
      this.#log.error({ folders: this.#folders, reason }, "events cannot be written");
      this.#isTold = true;
      this.#quietUntil = this.#now() + BETWEEN_FAILURES;
    }
    const remedy = "refused until the disk takes them; the log names the folder and the reason";
    const message = `writing events of channel "${this.#channel}" to disk (${remedy})`;
    return new AgentError("CHANNEL_FULL", message, { cause, retryable: true });
  }
}
