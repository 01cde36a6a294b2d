import type { TestContext } from "node:test";
import pg from "pg";
import { serverOfTests } from "./postgresql.js";

/** A database of a service: the schema with its table has the same name. */
export class ServiceDatabase {
  readonly name: string;
  readonly #clients: pg.Client[] = [];

  constructor(context: TestContext, name: string) {
    this.name = name;
    context.after(async () => {
      await Promise.all(this.#clients.map((client) => client.end().catch(() => undefined)));
      await onServer(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`);
    });
  }

  async numbers(): Promise<readonly number[]> {
    return await this.#numbers("number::int");
  }

  /** In the order in which they were stored. */
  async stored(): Promise<readonly number[]> {
    return await this.#numbers("ctid");
  }

  /** Keeps its rows from being written until the client ends. */
  async hold(): Promise<pg.Client> {
    const client = await this.#connected();
    await client.query(`BEGIN; LOCK TABLE ${this.name}.room IN ACCESS EXCLUSIVE MODE`);
    return client;
  }

  async refuse(): Promise<void> {
    await onServer(`ALTER DATABASE ${this.name} ALLOW_CONNECTIONS false`);
    await onServer(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '${this.name}'`);
  }

  async admit(): Promise<void> {
    await onServer(`ALTER DATABASE ${this.name} ALLOW_CONNECTIONS true`);
  }

  async #numbers(order: string): Promise<readonly number[]> {
    const client = await this.#connected();
    const { rows } = await client.query(`SELECT number FROM ${this.name}.room ORDER BY ${order}`);
    await client.end();
    return rows.map(({ number }) => Number(number));
  }

  async #connected(): Promise<pg.Client> {
    const client = new pg.Client({ ...serverOfTests(), database: this.name });
    client.on("error", () => undefined);
    await client.connect();
    this.#clients.push(client);
    return client;
  }
}

async function onServer(statement: string): Promise<void> {
  const client = new pg.Client({ ...serverOfTests(), database: "postgres" });
  await client.connect();
  await client.query(statement);
  await client.end();
}
