import { codeOf, reasonOf } from "deneb/sdk";
import type { Connection, RowDataPacket } from "mysql2/promise";
import { LOCKED, NODE_BEHIND } from "./error-kinds.js";

const WAIT = "wsrep_sync_wait";
/** Of the bits of that variable the one for reads. */
const READS = 1;

/**
 * Waits until the node of a Galera cluster has applied what the cluster committed before. Else it may show the past: that a batch is not
 * stored which an agent committed on another node. Servers without Galera have no such variable, or no cluster to wait for. `ask` is
 * what comes next.
 */
export async function awaitCluster(connection: Connection, ask: () => Promise<unknown>): Promise<void> {
  const [rows] = await connection.query<RowDataPacket[]>(`SHOW SESSION VARIABLES LIKE '${WAIT}'`);
  const before = Number(rows[0]?.["Value"] ?? READS);
  // With the bit set each read waits by itself.
  if ((before & READS) !== 0) return;
  await connection.query(`SET SESSION ${WAIT} = ${before | READS}`);
  const late = await lateness(connection);
  await connection.query(`SET SESSION ${WAIT} = ${before}`);
  if (late === undefined) return;
  // A node that has lost its cluster cannot wait either, and says why here.
  await ask();
  throw Object.assign(new Error(reasonOf(late), { cause: late }), { code: NODE_BEHIND });
}

async function lateness(connection: Connection): Promise<unknown> {
  try {
    await connection.query("SELECT COUNT(*) FROM information_schema.schemata");
    return undefined;
  } catch (error) {
    // Nothing locks what this waits for: the node did not catch up in time.
    if (codeOf(error) !== LOCKED) throw error;
    return error;
  }
}
