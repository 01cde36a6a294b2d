import { type Cell, type Statement, unexpectedChanges } from "deneb/sql";
import type { Connection, Submittable } from "pg";
import { OUT_OF_STEP } from "./error-kinds.js";
import { pipelineMessages, plainly, type Ways } from "./messages.js";

const UNANSWERED = `${OUT_OF_STEP}: a statement was not answered, or was rolled back, without an error`;

export interface PipelineResult {
  readonly rows: readonly (readonly Cell[])[];
  /** The size of the messages of the server in bytes. */
  readonly bytes: number;
}

interface ServerMessage {
  readonly length: number;
}

interface CommandComplete extends ServerMessage {
  /** Such as `UPDATE 1`. */
  readonly text: string;
}

interface DataRow extends ServerMessage {
  readonly fields: readonly (string | null)[];
}

/**
 * All statements in one round trip: every Parse, Bind and Execute, then a single Sync. After an error the server skips
 * the rest. https://www.postgresql.org/docs/current/protocol-flow.html#PROTOCOL-FLOW-PIPELINING
 *
 * `pg` calls the `handle...` methods of what is submitted to a client.
 */
export class PostgresqlPipeline implements Submittable {
  readonly done: Promise<PipelineResult>;
  readonly #statements: readonly Statement[];
  readonly #ways: Ways;
  readonly #rows: (readonly Cell[])[] = [];
  /** For each run the number of rows that it must change, if given. */
  readonly #changes: readonly (number | undefined)[];
  #completed = 0;
  #unexpected = false;
  #rolledBack = false;
  #failed: Statement | undefined;
  #bytes = 0;
  #resolve: (result: PipelineResult) => void = () => undefined;
  #reject: (error: unknown) => void = () => undefined;

  constructor(statements: readonly Statement[], ways: Ways = plainly) {
    this.#statements = statements;
    this.#ways = ways;
    this.#changes = statements.some(({ changes }) => changes !== undefined)
      ? statements.flatMap((one) => (this.#isCopied(one) ? [undefined] : one.runs.map(() => one.changes)))
      : [];
    this.done = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
  }

  /** The statement that the server refused, if it was one of them. */
  get failed(): Statement | undefined {
    return this.#failed;
  }

  get commits(): boolean {
    return this.#statements.some(({ text }) => text === "COMMIT");
  }

  submit(connection: Connection): void {
    // `pg` reports a broken connection to whoever waits for it.
    const { stream } = connection;
    if (!stream.writable) return;
    // Made before: an error in between would leave the connection corked.
    const pieces = pipelineMessages(this.#statements, this.#ways);
    stream.cork();
    for (const piece of pieces) stream.write(piece);
    stream.uncork();
  }

  /** The rows are on their way already. */
  handleCopyInResponse(): void {}

  handleDataRow(message: DataRow): void {
    this.#bytes += message.length;
    this.#rows.push(message.fields.map((field) => field ?? undefined));
  }

  handleCommandComplete(message: CommandComplete): void {
    this.#bytes += message.length;
    // A COMMIT of a transaction that failed before is one that succeeds so.
    if (message.text === "ROLLBACK" && this.#running()?.text !== "ROLLBACK") this.#rolledBack = true;
    const wanted = this.#changes[this.#completed++];
    if (wanted !== undefined && Number(message.text.split(" ").at(-1)) !== wanted) this.#unexpected = true;
  }

  handleError(error: unknown): void {
    this.#failed ??= this.#running();
    this.#reject(error);
  }

  handleReadyForQuery(): void {
    if (this.#unexpected) this.#reject(unexpectedChanges());
    // Rolled back in silence, or the answer is that to another pipeline: it is not known what was done.
    if (this.#running() !== undefined || this.#rolledBack) this.#reject(new Error(UNANSWERED));
    this.#resolve({ rows: this.#rows, bytes: this.#bytes });
  }

  /** The first statement that is not completed. */
  #running(): Statement | undefined {
    let left = this.#completed;
    for (const one of this.#statements) {
      const completions = this.#isCopied(one) ? 1 : one.runs.length;
      if (left < completions) return one;
      left -= completions;
    }
    return undefined;
  }

  /** It is completed once then, whatever its rows. */
  #isCopied(statement: Statement): boolean {
    return this.#ways.copyOf(statement) !== undefined;
  }
}
