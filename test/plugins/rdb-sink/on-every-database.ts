import { after, describe, test } from "node:test";
import type { Event, Receipt } from "../../../core/sdk/index.js";
import { type Place, testedDatabases } from "./databases.js";
import { type LoggingSink, never, receivedAt } from "./sinks.js";

export interface Case {
  readonly name: string;
  /** Also the schema, so that no case meets another. */
  readonly service: string;
  run(place: Place, service: string): Promise<void>;
}

/** Runs the same cases on every database the sink writes to. */
export async function onEveryDatabase(title: string, cases: readonly Case[]): Promise<void> {
  const { databases, drop } = await testedDatabases();
  after(drop);
  for (const database of databases)
    describe(`rdb sink on ${database.name}, ${title}`, () => {
      for (const { name, service, run } of cases)
        test(name, { skip: database.skip }, async (context) => run(await database.place(context), service));
    });
}

/** What is stored of an entity besides its attributes. */
export function fixed(id: string) {
  return { recvtime: receivedAt, entityid: id, entitytype: "T" } as const;
}

export async function persist({ sink }: LoggingSink, ...events: readonly Event[]): Promise<Receipt> {
  return await sink.persist({ events }, never);
}
