import { setTimeout as pause } from "node:timers/promises";
import { until } from "../support/until.js";
import type { HostilePostgresql } from "./hostile-postgresql.js";
import type { Trouble } from "./killed-agent.js";
import type { SmallDisk } from "./small-disk.js";

/** One thing that goes wrong and is mended again. */
export type Mishap = () => Promise<void>;

/** So many mishaps one after another, each chosen at random, with random pauses between them. */
export function mishaps(choice: readonly Mishap[], rounds: number, random: () => number): Trouble {
  return async (ending) => {
    for (let round = 0; round < rounds && !ending.aborted; round += 1) {
      await choice[Math.floor(random() * choice.length)]?.();
      await pause(random() * 500);
    }
  };
}

export function serverKilled(server: HostilePostgresql): Mishap {
  return async () => {
    await server.kill();
    await server.start();
  };
}

export function serverStopped(server: HostilePostgresql, milliseconds: number): Mishap {
  return async () => {
    await server.stop();
    await pause(milliseconds);
    await server.start();
  };
}

export function connectionsEnded(server: HostilePostgresql): Mishap {
  return async () => {
    await server.query("select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'deneb'");
  };
}

/** PostgreSQL reports it, or panics and comes up no more before there is room. */
export function diskFilled(server: HostilePostgresql, disk: SmallDisk, milliseconds: number): Mishap {
  return async () => {
    await disk.fill();
    await until(
      () => refuses(server),
      (refused) => refused,
    );
    await pause(milliseconds);
    await disk.makeRoom();
    await server.start();
  };
}

/** Whether it has no room for more. */
function refuses(server: HostilePostgresql): Promise<boolean> {
  return server.query("create temp table filler as select generate_series(1, 100000)").then(
    () => false,
    () => true,
  );
}

/** Adds the numbers of the rows that go with the schema to `gone`. */
export function schemaDropped(server: HostilePostgresql, gone: number[]): Mishap {
  return async () => {
    const [there] = await server.query("select to_regclass('crash.room') as room");
    if (there?.["room"] === null) return;
    // In one transaction: whatever is stored before is seen, and what comes after goes into a new table.
    const dropped = await server.query(
      "begin; lock table crash.room; select number from crash.room; drop schema crash cascade; commit",
    );
    gone.push(...dropped.map(({ number }) => Number(number)));
  };
}
