/**
 * Places of the files that take longest, the beginnings of their paths in the folder of the tests: one that starts last
 * would run alone at the end. The end of a run lists the slowest ones.
 */
const SLOW = [
  "deploy/deb",
  "deploy/image",
  "cli/plugin-new",
  "plugins/kafka/kafka-faults",
  "crash/",
  "conformance/",
  "model/",
  "alerts/",
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
