import type { StreamSettings } from "./settings.js";

/** One sentence for each setting with which an acknowledged event could be lost, and its remedy. */
export function warningsOf(
  { num_replicas, persist_mode }: StreamSettings,
  stream: string,
  version: string,
): readonly string[] {
  return [
    ...(num_replicas > 1 ? [] : [oneReplica(stream, version)]),
    ...(persist_mode === "async"
      ? [
          `the stream "${stream}" acknowledges events before it writes them (persist_mode async), so they can be lost when its server ends; make it with persist_mode default`,
        ]
      : []),
  ];
}

function oneReplica(stream: string, version: string): string {
  const alone = `the stream "${stream}" has one replica, and`;
  const lost = "an acknowledged event can be lost when its machine fails";
  return canSync(version)
    ? `${alone} unless its server has sync_interval: always, which an agent cannot see, ${lost}; use three replicas or that setting`
    : `${alone} NATS ${version} does not write to disk before it acknowledges: ${lost}; use three replicas, or NATS 2.10 or later with sync_interval: always`;
}

/** Servers before 2.10 cannot write to disk before they acknowledge. */
function canSync(version: string): boolean {
  const [major = 0, minor = 0] = version.split(".").map(Number);
  return major > 2 || (major === 2 && minor >= 10);
}
