/** How connections are opened and how many are kept open. */
interface ConnectionPoolOptions<Connection> {
  open(): Promise<Connection>;
  close(connection: Connection): Promise<void>;
  readonly mostOpen: number;
  readonly mostIdle: number;
  /** The number of idle connections that are kept open however long they are idle. */
  readonly leastIdle: number;
  /** 0 keeps idle connections open. */
  readonly idleMillis: number;
}

interface Idle<Connection> {
  readonly connection: Connection;
  readonly timer: NodeJS.Timeout | undefined;
}

/**
 * A pool of connections, each for one user at a time. Who finds none waits until one is returned. See
 * docs/decisions/0115 for why it is not that of mysql2.
 */
export class ConnectionPool<Connection> {
  readonly #options: ConnectionPoolOptions<Connection>;
  readonly #closing = new Set<Promise<void>>();
  #idle: readonly Idle<Connection>[] = [];
  #waiting: readonly (() => void)[] = [];
  #lent = 0;

  constructor(options: ConnectionPoolOptions<Connection>) {
    this.#options = options;
  }

  async take(): Promise<Connection> {
    while (this.#lent >= this.#options.mostOpen) await this.#returned();
    this.#lent += 1;
    const idle = this.#idle.at(-1);
    if (idle !== undefined) return this.#forget(idle);
    try {
      return await this.#options.open();
    } catch (error) {
      this.#returnOne();
      throw error;
    }
  }

  /** Returns a connection that can be used again. */
  keep(connection: Connection): void {
    this.#returnOne();
    if (this.#idle.length >= this.#options.mostIdle) this.#close(connection);
    else this.#idle = [...this.#idle, this.#resting(connection)];
  }

  /** Returns a connection that its user has destroyed. */
  lose(): void {
    this.#returnOne();
  }

  /** Removes an idle connection that broke. */
  broken(connection: Connection): void {
    for (const idle of this.#idle) if (idle.connection === connection) this.#forget(idle);
  }

  /** Closes all connections after the last one in use is returned. */
  async end(): Promise<void> {
    while (this.#lent > 0) await this.#returned();
    for (const idle of this.#idle) this.#close(this.#forget(idle));
    await Promise.all(this.#closing);
  }

  #resting(connection: Connection): Idle<Connection> {
    const { idleMillis } = this.#options;
    if (idleMillis === 0) return { connection, timer: undefined };
    const timer = setTimeout(() => this.#expire(connection), idleMillis).unref();
    return { connection, timer };
  }

  #expire(connection: Connection): void {
    const idle = this.#idle.find((one) => one.connection === connection);
    if (idle !== undefined && this.#idle.length > this.#options.leastIdle) this.#close(this.#forget(idle));
  }

  #forget(idle: Idle<Connection>): Connection {
    clearTimeout(idle.timer);
    this.#idle = this.#idle.filter((one) => one !== idle);
    return idle.connection;
  }

  #close(connection: Connection): void {
    const closing = this.#options.close(connection).finally(() => this.#closing.delete(closing));
    this.#closing.add(closing);
  }

  #returned(): Promise<void> {
    return new Promise((resolve) => {
      this.#waiting = [...this.#waiting, resolve];
    });
  }

  #returnOne(): void {
    this.#lent -= 1;
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const resolve of waiting) resolve();
  }
}
