import { AgentError, type Logger, reasonOf } from "deneb/sdk";

/** Whether events can be written; says so once when that changes. */
export class DiskState {
  readonly #channel: string;
  readonly #folders: readonly string[];
  readonly #log: Logger;
  #isFailing = false;

  constructor(channel: string, folders: readonly string[], log: Logger) {
    this.#channel = channel;
    this.#folders = folders;
    this.#log = log;
  }

  succeeded(): void {
    if (this.#isFailing) this.#log.info({ folders: this.#folders }, "events are written again");
    this.#isFailing = false;
  }

  /** The error for the puts that failed. A sender may read its message: where the files are is in the log alone. */
  failed(cause: unknown): AgentError {
    const reason = reasonOf(cause);
    if (!this.#isFailing) this.#log.error({ folders: this.#folders, reason }, "events cannot be written");
    this.#isFailing = true;
    const remedy = "refused until the disk takes them; the log names the folder and the reason";
    const message = `writing events of channel "${this.#channel}" to disk (${remedy})`;
    return new AgentError("CHANNEL_FULL", message, { cause, retryable: true });
  }
}
