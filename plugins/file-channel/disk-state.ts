import { AgentError, type Logger, reasonOf } from "deneb/sdk";

/** Whether events can be written; says so once when that changes. */
export class DiskState {
  readonly #folders: readonly string[];
  readonly #log: Logger;
  #isFailing = false;

  constructor(folders: readonly string[], log: Logger) {
    this.#folders = folders;
    this.#log = log;
  }

  succeeded(): void {
    if (this.#isFailing) this.#log.info({ folders: this.#folders }, "events are written again");
    this.#isFailing = false;
  }

  /** The error for the puts that failed. */
  failed(cause: unknown): AgentError {
    const reason = reasonOf(cause);
    if (!this.#isFailing) this.#log.error({ folders: this.#folders, reason }, "events cannot be written");
    this.#isFailing = true;
    const remedy = "puts are refused until it succeeds; look at the space and the health of the disk";
    const message = `writing events to "${this.#folders.join('", "')}" (${remedy})`;
    return new AgentError("CHANNEL_FULL", message, { cause, retryable: true });
  }
}
