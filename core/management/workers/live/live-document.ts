import type { JsonObject } from "../../../agent/live/merge-patch.js";
import { rounded } from "../../../agent/live/rates.js";
import { componentJoins, deadLetters, findingsOf, lastReload, sharedLog } from "../joined/component-joins.js";
import { type Join, latest, least, members, some, together } from "../joined/joins.js";
import { booksIn, workerList } from "../joined/worker-list.js";
import { objectIn, objectsIn, textIn } from "../json.js";
import { inOrder, type Team, type WorkerView } from "../team.js";

/** What one worker shows. */
export interface Shown {
  readonly worker: Pick<WorkerView, "number" | "pid">;
  readonly document: JsonObject;
}

/** What the gateway says of the whole. */
interface WholeAgent {
  readonly team: Team;
  /** When the supervisor began, ISO 8601 UTC. */
  readonly started: string;
  readonly revision: number;
  readonly time: string;
}

/** The live documents of all workers as that of one agent. */
export function mergedDocument(shown: readonly Shown[], { team, started, revision, time }: WholeAgent): JsonObject {
  const agents = shown.map(({ document }) => objectIn(document["agent"]));
  const ready = new Set(shown.filter((_, at) => agents[at]?.["ready"] === true).map(({ worker }) => worker.number));
  const books = shown.map(({ worker, document }) => {
    const components = Object.values(objectIn(document["components"])).map(objectIn);
    return [worker.number, booksIn(components.flatMap(({ ledger }) => ledger ?? []))] as const;
  });
  return {
    time,
    agent: {
      ...agent(agents),
      started,
      revision,
      ready: inOrder(team.workers).every(({ number, state }) => state === "running" && ready.has(number)),
      workers: workerList(team, new Map(books)),
    },
    components: components(shown.map(componentsOf)),
    dead_letters: members({}, deadLetters)(shown.map(({ document }) => objectIn(document["dead_letters"]))),
  };
}

const agent = members({ arrivals: members({ on: some, until: latest }), last_reload: lastReload });

function componentsOf({ worker, document }: Shown): JsonObject {
  return Object.fromEntries(
    Object.entries(objectIn(document["components"])).map(([id, state]) => {
      const { findings, ...others } = objectIn(state);
      return [
        id,
        findings === undefined ? others : { ...others, findings: findingsOf(worker.number, objectsIn(findings)) },
      ];
    }),
  );
}

/** What belongs to the event that waits longest, and what is of the whole log where workers share one. */
const oldest = ["oldest", "oldest_exact"] as const;
const ofWholeLog = ["events", "capacity", "bytes", ...oldest, "seconds_until_full"] as const;

const component: Join = (states) => {
  const merged = withRates(members({ ...componentJoins, seconds_until_full: least, log: sharedLog })(states));
  const all = states.map(objectIn);
  const shared = all.find(({ log }) => log !== undefined);
  if (shared !== undefined) {
    const ledger = together(objectIn(merged["ledger"]), ["waiting"], objectIn(shared["ledger"]));
    return { ...together(merged, ofWholeLog, shared), ledger };
  }
  const waiting = all.filter(({ oldest: since }) => since !== undefined);
  const [longest] = waiting.toSorted((one, other) => (textIn(one["oldest"]) < textIn(other["oldest"]) ? -1 : 1));
  return together(merged, oldest, longest);
};

/** Rates have three digits, those of the sum too. */
function withRates(state: JsonObject): JsonObject {
  return Object.fromEntries(
    Object.entries(state).map(([name, value]) => [
      name,
      name.endsWith("_per_second") && typeof value === "number" ? rounded(value, 3) : value,
    ]),
  );
}

const components = members({}, component);
