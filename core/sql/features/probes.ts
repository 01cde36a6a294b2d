import type { Examiner, Probe } from "../../sdk/index.js";
import { storeError } from "../contract/database-error.js";
import { type KnownStore, lookUp } from "../tables/known-store.js";
import { refuseNewerTable } from "../tables/known-tables.js";
import { rowsAnywhere } from "../tables/register-rows.js";

/** What is tried for a sink before an agent runs: that its store can be used, and that its own tables are of this version. */
export function storeProbes(store: KnownStore, examiner: Examiner): readonly Probe[] {
  const { driver, server, dialect } = store;
  const tables: Probe = {
    tries: "read the tables that Deneb keeps there",
    run: async (signal) => {
      try {
        return { outcome: "ok", reason: await ownTables(store, signal) };
      } catch (error) {
        throw storeError(error, dialect.errors, server);
      }
    },
  };
  const use: Probe = {
    tries: `use the store at ${server.address}`,
    run: async (signal) => {
      try {
        await driver.probe(signal);
        return { outcome: "ok" };
      } catch (error) {
        throw storeError(error, dialect.errors, server);
      }
    },
    next: [tables],
  };
  return store.probes?.(examiner, [tables]) ?? [use];
}

/** Reads which there are. A start would add columns that an earlier version did not have; this does not. */
async function ownTables(store: KnownStore, signal: AbortSignal): Promise<string> {
  const { dialect, driver, tables } = store;
  const units = await driver.commitUnits(signal);
  const names = units.flatMap((unit) => [dialect.positionsTable(unit), dialect.deadLettersTable(unit)]);
  await lookUp(names, store, signal);
  for (const name of names) refuseNewerTable(name, store);
  const listed = await rowsAnywhere(store, signal);
  const isThere = names.some((name) => tables.columns(name) !== undefined);
  if (!isThere && listed.length === 0) return "none yet";
  return `tables listed: ${listed.length}${isThere ? "" : ", and no position is kept"}`;
}
