import assert from "node:assert/strict";
import { test } from "node:test";
import type { Driver, Store } from "../../core/sql/contract/driver.js";
import { storedData } from "../../core/sql/index.js";
import { databases } from "../../plugins/rdb-sink/databases.js";
import { configOf, entity, eventOf, never, sinkOf } from "../plugins/rdb-sink/sinks.js";
import { recordingLog } from "../support/recording-log.js";
import { tempFolder } from "../support/temp-folder.js";

type Part = "read" | "write";

/** A store whose connection breaks once, at the next read or write of the list of tables after `breaks` was called. */
function breakingStore(store: Store): { readonly store: Store; breaks(at: Part): void } {
  let next: Part | undefined;
  const fail = (part: Part, statements: Parameters<Driver["read"]>[0]) => {
    if (next !== part || !statements.some(({ text }) => text.includes("deneb_tables"))) return;
    next = undefined;
    throw Object.assign(new Error("read ECONNRESET"), { code: "ECONNRESET" });
  };
  const { driver } = store;
  const breaking: Driver = {
    probe: (signal) => driver.probe(signal),
    read: async (statements, signal) => {
      fail("read", statements);
      return await driver.read(statements, signal);
    },
    write: async (statements, signal) => {
      fail("write", statements);
      return await driver.write(statements, signal);
    },
    commitUnits: (signal) => driver.commitUnits(signal),
    close: (signal) => driver.close(signal),
  };
  return {
    store: { ...store, driver: breaking },
    breaks: (at) => {
      next = at;
    },
  };
}

for (const part of ["read", "write"] as const)
  test(`a table is listed although the connection breaks at the ${part} of the list, and an erasure finds its rows`, async (context) => {
    const config = { rdb_dialect: "sqlite", rdb_folder: await tempFolder(context) } as const;
    const own = { name: "sink", log: recordingLog().log, dataDir: "", run: "run", now: () => new Date(0) };
    const { store, breaks } = breakingStore(databases.sqlite.open(configOf(config), own));
    const { sink, lines } = sinkOf(config, undefined, store);
    // The list is made with the first table, and read before each further one.
    if (part === "read") await sink.persist({ events: [eventOf(entity("urn:a", { p: "1" }), "svc")] }, never);

    breaks(part);
    await sink.persist({ events: [eventOf(entity("urn:b", { p: "1" }), "svc")] }, never);
    await sink.persist({ events: [eventOf(entity("urn:c", { p: "1" }), "svc")] }, never);
    await sink.stop(never);

    const data = storedData(configOf(config), own, databases.sqlite.open(configOf(config), own));
    const found: (number | undefined)[] = [];
    for (const id of ["urn:b", "urn:c"]) found.push((await data.erase?.({ entity: id }, true, never))?.erased.length);
    await data.close();
    assert.deepEqual(found, [1, 1]);
    assert.deepEqual(
      lines.filter(({ level }) => level === "warn"),
      [],
    );
  });
