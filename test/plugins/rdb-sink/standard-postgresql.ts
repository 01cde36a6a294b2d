import { Client } from "pg";
import { errorPatterns, oneConnection, type Store, standardDialect } from "../../../core/sql/index.js";
import type { TestDatabase } from "../../support/postgresql.js";

/** PostgreSQL as a stranger would bring it: a standard dialect and one connection. */
export const standardPostgresql = standardDialect({
  reservedColumns: ["tableoid", "xmin", "cmin", "xmax", "cmax", "ctid"],
  types: {
    text: "text",
    longtext: "text",
    integer: "bigint",
    number: "double precision",
    boolean: "boolean",
    time: "timestamptz",
    json: "jsonb",
    other: "text",
  },
  kinds: [
    [/^(text|character)/, "text"],
    [/int/, "integer"],
    [/^(double|real|numeric)/, "number"],
    [/^bool/, "boolean"],
    [/^(timestamp|date)/, "time"],
    [/^json/, "json"],
  ],
  rowId: "ctid",
  parameter: (number) => `$${number}`,
  readTime: (column) => `${column}::timestamptz`,
  errors: errorPatterns({
    name: "PostgreSQL",
    missing: /^(3F000|42P01|42703) /,
    raced: /^(23505|42P06|42P07|42701|42710) /,
    refused: /^(22|23|42|54)\w{3} /,
  }),
});

const plainText = { getTypeParser: () => String } as const;

export function standardStore({ host, port, user, password, database }: TestDatabase): Store {
  const driver = oneConnection<Client>({
    async open() {
      const client = new Client({ host, port, user, password, database, types: plainText, options: "-c TimeZone=UTC" });
      client.on("error", () => undefined);
      await client.connect();
      return client;
    },
    async run(client, text, parameters) {
      const { rows } = await client.query<(string | null)[]>({ text, values: [...parameters], rowMode: "array" });
      return rows.map((row) => row.map((cell) => cell ?? undefined));
    },
    close: (client) => client.end(),
  });
  const server = { address: `${host}:${port}`, database, username: user, options: "" };
  return { dialect: standardPostgresql, driver, server };
}
