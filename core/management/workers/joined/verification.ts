import type { JsonObject } from "../../../agent/live/merge-patch.js";
import type { Told } from "../call.js";
import { listIn, objectIn } from "../json.js";
import { every, type Join, largest, listBy, members } from "./joins.js";

/** What one worker has found. */
interface ToldVerification {
  readonly worker: Pick<Told["worker"], "number">;
  readonly body: JsonObject;
}

/** The answer to `GET /v1/admin/verify`: what differs anywhere, with the workers that say so. */
export function mergedVerification(told: readonly ToldVerification[], missing: readonly string[]): JsonObject {
  const all = told.map(({ body }) => objectIn(body["verification"]));
  const sentences = (member: string) => {
    const by = new Map<string, number[]>();
    for (const [at, { worker }] of told.entries()) {
      for (const text of listIn(all[at]?.[member]))
        by.set(String(text), [...(by.get(String(text)) ?? []), worker.number]);
    }
    return [...by].map(
      ([text, workers]) => `${workers.length === 1 ? "worker" : "workers"} ${workers.join(", ")}: ${text}`,
    );
  };
  const verification = {
    ...merged(all),
    differences: sentences("differences"),
    unknown: [...sentences("unknown"), ...missing],
    notes: sentences("notes"),
  };
  return { ...told[0]?.body, verification };
}

/** The books of one channel; its stores count for each worker what that one stored. */
const channel: Join = members({ store: members({}) });

const merged = members({
  ok: every,
  channels: listBy(["name"], channel),
  // A table is one, whoever counts its rows.
  tables: listBy(["sink", "table"], members({ rows: largest })),
});
