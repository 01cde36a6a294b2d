import type { Socket } from "node:net";
import { AgentError, onAbort } from "deneb/sdk";
import { abortable, type DatabaseError, type DatabaseErrorReader } from "deneb/sql";

/** What happens to a connection after its use. */
export type LeaseEnd = "keep" | "destroy";

interface LeaseOptions {
  /** Returns the connection to its pool, or destroys it. */
  release(how: LeaseEnd): void;
  readonly limitMillis: number | undefined;
  readonly signal: AbortSignal;
  /** What to do about one that took too long, beside raising the limit. */
  readonly remedy?: string;
}

/** One use of a pooled connection. It ends by its user, by the signal, or after the time limit. */
class Lease {
  readonly #options: LeaseOptions;
  readonly #open: Set<Lease>;
  readonly #destroyed: Promise<never>;
  readonly #timer: NodeJS.Timeout | undefined;
  #refuse: (reason: unknown) => void = () => undefined;
  readonly #stopListening: () => void = () => undefined;
  #ended = false;

  constructor(options: LeaseOptions, open: Set<Lease>) {
    this.#options = options;
    this.#open = open.add(this);
    this.#destroyed = new Promise((_, reject) => {
      this.#refuse = reject;
    });
    // Handled by whoever waits for it.
    this.#destroyed.catch(() => undefined);
    const { limitMillis, signal } = options;
    this.#timer = limitMillis === undefined ? undefined : setTimeout(this.destroy, limitMillis);
    this.#stopListening = onAbort(signal, this.destroy);
  }

  /** Destroys the connection; what runs on it fails. */
  readonly destroy = (): void => this.end("destroy");

  /** Waits for the work or the destruction of the connection: some drivers never settle their promises then. */
  async unlessDestroyed<T>(work: Promise<T>): Promise<T> {
    return await Promise.race([work, this.#destroyed]);
  }

  /** Only the first end counts. */
  end(how: LeaseEnd): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#open.delete(this);
    clearTimeout(this.#timer);
    this.#stopListening();
    this.#options.release(how);
    if (how === "destroy") this.#refuse(tooSlow(this.#options));
  }
}

/** The leases of a driver that have not ended, and its sockets. */
export class Leases {
  readonly #open = new Set<Lease>();
  readonly #sockets = new Set<Socket>();

  open(options: LeaseOptions): Lease {
    return new Lease(options, this.#open);
  }

  /** Adds the socket of a connection that nobody has yet, and that its pool waits for. */
  connecting(socket: Socket): Socket {
    this.#sockets.add(socket);
    socket.once("close", () => this.#sockets.delete(socket));
    return socket;
  }

  /** Closes the pool; when the signal is aborted, the connections in use and those that are being opened are destroyed. */
  async closing(signal: AbortSignal, close: () => Promise<void>): Promise<void> {
    const destroyAll = () => {
      for (const lease of this.#open) lease.destroy();
      for (const socket of this.#sockets) socket.destroy();
    };
    await abortable(signal, destroyAll, close);
  }
}

function tooSlow({ limitMillis, remedy = "" }: LeaseOptions): AgentError {
  const message = `a write to the database took longer than ${limitMillis} milliseconds and was aborted`;
  const what = `${message}; raise rdb_statement_timeout if it needs more${remedy}`;
  return new AgentError("STATEMENT_TIMEOUT", what, { retryable: true });
}

/**
 * Whether the next try may succeed in a new session only. Settings of a server, a database or a user count for sessions that begin
 * afterwards, and the name of the server may lead to another one by then.
 */
export function maySessionMatter(error: DatabaseError, errors: DatabaseErrorReader): boolean {
  return errors.retryable(error) && !errors.missing(error) && !errors.raced(error);
}
