/**
 * Places of the files that take longest, the beginnings of their paths in the folder of the tests: one that starts last
 * would run alone at the end. The end of a run lists the slowest ones.
 */
const SLOW = [
  "deploy/deb.",
  "deploy/image",
  "cli/plugin-new",
  "plugins/kafka/cluster-agents",
  "plugins/kafka/own-cluster",
  "plugins/kafka/own-broker",
  "crash/",
  "conformance/",
  "guard/guard",
  "model/",
  "alerts/",
  "growth/",
  "cli/plugin-dev",
  "cli/partition-tables",
  "cli/guide-pages",
  "plugins/kafka/source",
  "plugins/jetstream/channel",
] as const;

/**
 * The paths in the order in which their files start: the slow places one after another, then the others, one of each
 * folder in turn, because those of one folder often load the same server.
 */
export function startOrder(paths: readonly string[]): readonly string[] {
  const sorted = paths.toSorted();
  const slow = SLOW.flatMap((place) => sorted.filter((path) => path.startsWith(place)));
  return [...slow, ...inTurn(sorted.filter((path) => !slow.includes(path)))];
}

/**
 * Places of the files that kill, freeze and cut off servers, by lane. They mostly wait, and some start brokers of their own: many
 * of them at a time would load the machine in one moment and leave it idle in the next. Those that kill agents alone are among
 * the others.
 */
const OF_FAULTS = [
  ["plugins/kafka/"],
  ["crash/full-engine", "crash/hostile", "crash/shared-log", "alerts/", "plugins/jetstream/"],
] as const;

// Half of the time of a file is waiting: with two at a time two cores are half idle.
const AT_ONCE = 3;

/** Files of which at most `atOnce` run at the same time. */
export interface Lane {
  readonly files: readonly string[];
  readonly atOnce: number;
}

/**
 * The paths in lanes that run beside each other: in lanes of faults one file after another. The paths are those of
 * {@link startOrder}, in its order.
 */
export function lanes(paths: readonly string[]): readonly Lane[] {
  const isOf = (places: readonly string[]) => (path: string) => places.some((place) => path.startsWith(place));
  const ofFaults = OF_FAULTS.map((places) => ({ files: paths.filter(isOf(places)), atOnce: 1 }));
  const others = { files: paths.filter((path) => !OF_FAULTS.some((places) => isOf(places)(path))), atOnce: AT_ONCE };
  const filled = [others, ...ofFaults].filter(({ files }) => files.length > 0);
  return filled.length === 1 ? [{ files: paths, atOnce: AT_ONCE }] : filled;
}

function inTurn(paths: readonly string[]): readonly string[] {
  const seen = new Map<string, number>();
  const turns = paths.map((path) => {
    const folder = path.slice(0, path.lastIndexOf("/"));
    const turn = seen.get(folder) ?? 0;
    seen.set(folder, turn + 1);
    return { path, turn };
  });
  return turns.toSorted((one, other) => one.turn - other.turn).map(({ path }) => path);
}
