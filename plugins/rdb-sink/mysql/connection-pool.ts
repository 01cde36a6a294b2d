/** How connections are opened and how many are kept. */
export interface ConnectionPoolOptions<Connection> {
  open(): Promise<Connection>;
  close(connection: Connection): Promise<void>;
  readonly mostOpen: number;
  readonly mostIdle: number;
  /** So many idle connections are kept however long they are idle. */
  readonly leastIdle: number;
  /** 0 keeps idle connections open. */
  readonly idleMillis: number;
}

interface Idle<Connection> {
  readonly connection: Connection;
  readonly timer: NodeJS.Timeout | undefined;
}

/** Connections that are lent to one user at a time; who finds none waits until one comes back. */
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

  /** Takes a connection back that is fit for another use. */
  keep(connection: Connection): void {
    this.#returnOne();
    if (this.#idle.length >= this.#options.mostIdle) this.#close(connection);
    else this.#idle = [...this.#idle, this.#resting(connection)];
  }

  /** Takes a connection back that its user has ended. */
  lose(): void {
    this.#returnOne();
  }

  /** Forgets an idle connection that broke. */
  broken(connection: Connection): void {
    for (const idle of this.#idle) if (idle.connection === connection) this.#forget(idle);
  }

  /** Ends after the last connection came back. */
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
