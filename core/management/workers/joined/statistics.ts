import type { Json, JsonObject } from "../../../agent/live/merge-patch.js";
import type { Told } from "../call.js";
import { numberIn, objectIn, objectsIn } from "../json.js";
import type { Team } from "../team.js";
import { componentJoins, deadLetters, findingsOf, lastReload, sharedLog, worstHealth } from "./component-joins.js";
import { all, highest, type Join, listBy, members, sum, together, usual } from "./joins.js";
import { booksIn, workerList } from "./worker-list.js";

/** Services that are shown of a component. */
const MOST_SERVICES = 10;

/** The answer to `GET /v1/stats`: the statistics of all workers as those of one agent. */
export function mergedStatistics(told: readonly Told[], team: Team): JsonObject {
  const [first] = told;
  const all = told.map(({ worker, body }) => withWorker(worker.number, objectIn(body["stats"])));
  const books = told.map(({ worker, body }) => {
    return [worker.number, booksIn(objectIn(objectIn(body["stats"])["ledger"])["channels"])] as const;
  });
  const stats = statistics(all);
  return { ...first?.body, stats: { ...withLogs(stats, all), workers: workerList(team, new Map(books)) } };
}

function withWorker(worker: number, stats: JsonObject): JsonObject {
  const health = objectsIn(stats["health"]).map((one) => ({
    ...one,
    findings: findingsOf(worker, objectsIn(one["findings"])),
  }));
  return { ...stats, health };
}

/** What belongs to the event that waits longest, and what is of the whole log where agents share one. */
const oldest = ["oldest_event_seconds", "oldest_event_exact"] as const;
const ofWholeLog = ["num_events", "capacity", "bytes", ...oldest, "largest_services"] as const;

const channel: Join = (values) => {
  const channels = values.map(objectIn);
  const merged = members({
    ...componentJoins,
    largest_services: highest(MOST_SERVICES, "num_events", listBy(["service"], usual)),
    log: sharedLog,
  })(values);
  const shared = channels.find(({ log }) => log !== undefined);
  if (shared !== undefined) return together(merged, ofWholeLog, shared);
  const [longest] = channels.toSorted((one, other) => seconds(other) - seconds(one));
  return together(merged, oldest, longest);
};

function seconds({ oldest_event_seconds: waited }: JsonObject): number {
  return typeof waited === "number" ? waited : -1;
}

const source = members({
  ...componentJoins,
  over_quota: highest(MOST_SERVICES, "num_refused_events", listBy(["service"], usual)),
});

const ledgerChannel = members({ sinks: listBy(["name"], usual) });

const statistics = members({
  sources: listBy(["name"], source),
  channels: listBy(["name"], channel),
  sinks: listBy(["name"], members(componentJoins)),
  ledger: members({ channels: listBy(["name"], ledgerChannel), unaccounted: sum }),
  dead_letters: listBy(["sink"], deadLetters),
  health: listBy(["kind", "name"], members({ state: worstHealth, findings: all })),
  last_reload: lastReload,
});

/** In a channel that agents share each worker sees all that waits: it counts once. */
function withLogs(stats: JsonObject, workers: readonly JsonObject[]): JsonObject {
  const shared = new Set(objectsIn(stats["channels"]).flatMap(({ name, log }) => (log === undefined ? [] : [name])));
  if (shared.size === 0) return stats;
  const waiting = (name: Json | undefined) => {
    const ledgers = workers.flatMap((one) => objectsIn(objectIn(one["ledger"])["channels"]));
    return ledgers.find((one) => one["name"] === name && one["waiting"] !== undefined)?.["waiting"];
  };
  const ledger = objectIn(stats["ledger"]);
  const channels = objectsIn(ledger["channels"]).map((one) =>
    shared.has(one["name"]) && one["waiting"] !== undefined ? { ...one, waiting: numberIn(waiting(one["name"])) } : one,
  );
  return { ...stats, ledger: { ...ledger, channels } };
}
