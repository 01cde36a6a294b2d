import assert from "node:assert/strict";
import type { Event } from "../../core/sdk/index.js";
import { onEveryDatabase } from "../plugins/rdb-sink/on-every-database.js";
import { entity, eventOf, never } from "../plugins/rdb-sink/sinks.js";

const BATCHES = 8;
const TABLES = ["t0", "t1", "t2", "t3", "t4", "t5"] as const;

/** The same entities in every batch; from time to time all of them get a new attribute. */
function batchOf(service: string, number: number, isBackward: boolean): readonly Event[] {
  const attributes = { a: String(number), [`c${Math.floor(number / 5)}`]: "x" };
  const events = TABLES.flatMap((type) =>
    Array.from({ length: 10 }, (_, id) => {
      const body = { ...entity(`urn:e:${id}`, attributes), type };
      const { headers } = eventOf(body, service);
      return { headers: { ...headers, timestamp: String(1_600_000_000_000 + number) }, body };
    }),
  );
  return isBackward ? events.reverse() : events;
}

await onEveryDatabase("two agents with the same entities", [
  {
    name: "rows, last data, new columns and positions are written in one order, so that no write fails",
    service: "order",
    run: async (place, service) => {
      const config = { last_data_mode: "both", data_model: "dm-by-entity-type" } as const;
      const walk = async (agent: string, isBackward: boolean) => {
        const { sink } = await place.sink(config, undefined, { run: `${agent},1,since,random` });
        for (let number = 0; number < BATCHES; number += 1) {
          const events = batchOf(service, number, isBackward);
          const text = `log/${service}/${agent}:${number}`;
          await sink.persist({ events, position: { text, shared: true, coveredBy: () => [] } }, never);
        }
      };

      const walks = await Promise.allSettled([walk("one", false), walk("two", true), walk("three", false)]);

      assert.deepEqual(
        walks.flatMap((one) => (one.status === "rejected" ? [String(one.reason)] : [])),
        [],
      );
      const counts = await Promise.all(TABLES.map(async (table) => (await place.rows(service, table)).length));
      assert.deepEqual(
        counts,
        TABLES.map(() => 3 * BATCHES * 10),
      );
    },
  },
]);
