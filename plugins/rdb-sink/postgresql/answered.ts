import { plain, type Statement } from "deneb/sql";
import type pg from "pg";
import { type PipelineResult, PostgresqlPipeline } from "./pipeline.js";

/** In every language of messages. */
const GIVES_UP_WAITING = "SyncRepWaitForLSN";

/** Something to commit that changes nothing; a commit without that waits for nobody. */
const SOMETHING = "SELECT FROM pg_catalog.pg_logical_emit_message(true, 'deneb', '') AS place WHERE place IS NULL";

/** Connections whose server has committed what its synchronous standbys may lack. */
const unconfirmed = new WeakSet<pg.ClientBase>();

/** Notices when somebody cancels a commit that waits for a synchronous standby: it is reported as successful. */
export function watchCommits(client: pg.ClientBase): void {
  client.on("notice", ({ routine }) => {
    if (routine === GIVES_UP_WAITING) unconfirmed.add(client);
  });
}

/** Runs the statements in one round trip. What they commit is on the synchronous standbys then, if the server has any. */
export async function answered(client: pg.ClientBase, statements: readonly Statement[]): Promise<PipelineResult> {
  const result = await client.query(new PostgresqlPipeline(statements)).done;
  if (unconfirmed.delete(client)) await answered(client, [plain({ database: "", schema: "" }, SOMETHING)]);
  return result;
}
