import type { TestContext } from "node:test";
import { mysqlRelay } from "./mysql-relay.js";

/** The words of a MySQL Router that shares connections. */
const REFUSED = {
  number: 4501,
  state: "HY000",
  message: "Multi-Statements are forbidden if connection-sharing is enabled.",
} as const;

/** Stands before a MySQL and refuses texts of several statements, as some proxies do; its port, and how many it refused. */
export async function oneStatementProxy(
  context: TestContext,
  server: { readonly host: string; readonly port: number },
): Promise<{ readonly port: number; readonly refused: () => number }> {
  let refused = 0;
  const port = await mysqlRelay(context, server, (text) => {
    if (!text.includes(";")) return undefined;
    refused += 1;
    return REFUSED;
  });
  return { port, refused: () => refused };
}
