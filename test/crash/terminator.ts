import { setTimeout as pause } from "node:timers/promises";
import type { TestDatabase } from "../support/postgresql.js";

const PAUSE_MILLISECONDS = 70;

/** Ends the connections of everybody else to the database, again and again. */
export function terminator(database: TestDatabase): (ending: AbortSignal) => Promise<void> {
  return async (ending) => {
    while (!ending.aborted) {
      await database.query(
        "select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()",
      );
      await pause(PAUSE_MILLISECONDS);
    }
  };
}
