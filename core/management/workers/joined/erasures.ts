import type { JsonObject } from "../../../agent/live/merge-patch.js";
import type { Told } from "../call.js";
import { listIn } from "../json.js";
import { nameOf } from "../team.js";
import { first, listBy, members } from "./joins.js";

/** What all workers erased, or would erase. */
export function mergedErasures(told: readonly Told[]): JsonObject {
  const merged = members({ unsettled: first, channels: listBy(["channel"], members({})) })(
    told.map(({ body }) => body),
  );
  const unsettled = told.flatMap(({ worker, body }) => {
    return listIn(body["unsettled"]).map((sink) => `${nameOf(worker)}: ${String(sink)}`);
  });
  return { ...merged, unsettled };
}
