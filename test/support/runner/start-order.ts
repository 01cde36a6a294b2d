/**
 * Places of the files that take longest, the beginnings of their paths in the folder of the tests: one that starts last
 * would run alone at the end. The end of a run lists the slowest ones.
 */
const SLOW = [
  "deploy/deb.",
  "deploy/image",
  "cli/plugin-new",
  "plugins/kafka/kafka-faults",
  "plugins/kafka/cluster",
  "crash/",
  "conformance/",
  "guard/guard",
  "model/",
  "alerts/",
  "growth/",
  "cli/plugin-dev",
  "cli/partition-tables",
  "cli/guide-pages",
  "plugins/kafka/outages",
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
 * Places of the files that kill, freeze and cut off servers: what others do to the machine meanwhile changes when. Those
 * that kill agents alone mostly wait, and are among the others.
 */
const OF_FAULTS = [
  "crash/full-engine",
  "crash/hostile",
  "crash/shared-log",
  "alerts/",
  "plugins/kafka/",
  "plugins/jetstream/",
] as const;

/** Files that run at the same time. Half of the time of a file is waiting: with two at a time two cores are half idle. */
export const AT_ONCE = 3;

/**
 * The paths in groups, one of which runs after another: those of faults come last, beside each other alone. They mostly wait, and
 * leave the machine to each other. The paths are those of {@link startOrder}, in its order.
 */
export function waves(paths: readonly string[]): readonly (readonly string[])[] {
  const ofFaults = paths.filter((path) => OF_FAULTS.some((place) => path.startsWith(place)));
  const others = paths.filter((path) => !ofFaults.includes(path));
  return [others, ofFaults].filter((wave) => wave.length > 0);
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
