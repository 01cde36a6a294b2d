import type { JetStreamConfig } from "../config.js";
import type { Subjects } from "./subjects.js";

const NANOS = 1_000_000;

/** The settings of a stream, as a server tells them; older servers leave out those that they do not have. */
export interface StreamSettings {
  readonly description?: string;
  readonly subjects?: readonly string[];
  readonly retention: string;
  readonly storage: string;
  readonly discard: string;
  readonly num_replicas: number;
  readonly max_age: number;
  readonly max_bytes?: number;
  readonly max_msgs?: number;
  readonly max_msgs_per_subject?: number;
  readonly max_msg_size?: number;
  /** Nanoseconds. */
  readonly duplicate_window: number;
  readonly allow_direct?: boolean;
  readonly deny_purge?: boolean;
  readonly sealed?: boolean;
  readonly no_ack?: boolean;
  readonly persist_mode?: string;
  readonly subject_transform?: object;
  readonly mirror?: object;
  readonly sources?: readonly object[] | null;
}

/** One sentence for each setting with which a stream cannot be this log, and its remedy. */
export function settingFaults(found: StreamSettings, config: JetStreamConfig, { stored }: Subjects): readonly string[] {
  const { stream, partitions, replicas, request_timeout } = config;
  const edit = (option: string) => `nats stream edit ${stream} ${option}`;
  const again = (option: string) => `it cannot be changed, make the stream again with ${option}`;
  const has = partitionsIn(found.description);
  const window = found.duplicate_window / NANOS;
  const faults: readonly (readonly [boolean, string])[] = [
    [
      has === undefined,
      `its description does not say how many partitions it has; ${edit(`--description partitions=${partitions}`)}`,
    ],
    [
      has !== undefined && has !== partitions,
      `it has ${has} ${has === 1 ? "partition" : "partitions"} and the property "partitions" says ${partitions}; set the property to ${has}`,
    ],
    [
      !sameWords(found.subjects ?? [], stored),
      `its subjects are "${(found.subjects ?? []).join(" ")}"; ${edit(`--subjects ${stored.join(",")}`)}`,
    ],
    [found.retention !== "limits", `its retention is "${found.retention}"; ${again("--retention limits")}`],
    [found.storage !== "file", `its storage is "${found.storage}"; ${again("--storage file")}`],
    [
      found.discard !== "new",
      `a full stream removes its oldest events, discard is "${found.discard}"; ${edit("--discard new")}`,
    ],
    [
      found.max_age !== 0,
      `it removes events that are not stored yet after ${found.max_age / NANOS / 1000} seconds; ${edit("--max-age 0")}`,
    ],
    [
      (found.max_msgs_per_subject ?? -1) > 0,
      `it keeps ${found.max_msgs_per_subject} messages of a subject only; ${edit("--max-msgs-per-subject -1")}`,
    ],
    // Servers of 2.10 and later: nobody would find what was acknowledged.
    [
      found.subject_transform !== undefined,
      "it keeps messages under other subjects than they were sent to (subject_transform), where no agent looks for them; remove that from its configuration",
    ],
    [found.allow_direct !== true, `direct reads are off; ${edit("--allow-direct")}`],
    // Sealing denies removals, too.
    [found.sealed === true, `it is sealed; ${again("another name")}`],
    [found.deny_purge === true, `what is stored cannot be removed from it; ${again("deny_purge false")}`],
    [found.no_ack === true, `it acknowledges nothing; ${edit("--ack")}`],
    [
      found.mirror !== undefined || (found.sources ?? []).length > 0,
      "it copies from another stream; name one that does not",
    ],
    [
      found.num_replicas < replicas,
      `it has ${found.num_replicas} replicas and the property "replicas" says ${replicas}; ${edit(`--replicas ${replicas}`)}`,
    ],
    [
      window < 2 * request_timeout,
      `it recognizes a repeated record for ${window} milliseconds only; ${edit(`--dupe-window ${Math.ceil((2 * request_timeout) / 1000)}s`)}`,
    ],
  ];
  return faults.filter(([wrong]) => wrong).map(([, text]) => text);
}

/** One sentence for each setting with which an acknowledged event could be lost, and its remedy. */
export function warningsOf(
  { num_replicas, persist_mode }: Pick<StreamSettings, "num_replicas" | "persist_mode">,
  stream: string,
  version: string,
): readonly string[] {
  return [
    ...(num_replicas > 1 ? severalReplicas(stream, version) : [oneReplica(stream, version)]),
    ...(persist_mode === "async"
      ? [
          `the stream "${stream}" acknowledges events before it writes them (persist_mode async), so they can be lost when its server ends; make it with persist_mode default`,
        ]
      : []),
  ];
}

function partitionsIn(description: string | undefined): number | undefined {
  const [, count] = /\bpartitions=(\d{1,6})\b/.exec(description ?? "") ?? [];
  return count === undefined ? undefined : Number(count);
}

function sameWords(found: readonly string[], wanted: readonly string[]): boolean {
  return found.length === wanted.length && wanted.every((word) => found.includes(word));
}

function oneReplica(stream: string, version: string): string {
  const alone = `the stream "${stream}" has one replica, and`;
  const lost = "an acknowledged event can be lost when its machine fails";
  return isFrom(version, FIRST_WITH_SYNC)
    ? `${alone} unless its server has sync_interval: always, which an agent cannot see, ${lost}; use three replicas or that setting`
    : `${alone} NATS ${version} does not write to disk before it acknowledges: ${lost}; use three replicas, or NATS 2.10 or later with sync_interval: always`;
}

/** Servers before this one cannot write to disk before they acknowledge. */
const FIRST_WITH_SYNC = [2, 10, 0];
/** Servers before this one become leader of a stream that they have not caught up with (NATS pull request 7040). */
const FIRST_CAUGHT_UP = [2, 11, 7];

function severalReplicas(stream: string, version: string): readonly string[] {
  if (isFrom(version, FIRST_CAUGHT_UP)) return [];
  const lost = "a server that was away can become leader before it has caught up, and what it lacks is lost";
  const remedy =
    "before you stop a server wait until the others are current (nats stream info), or use NATS 2.11.7 or later";
  return [`the stream "${stream}" is kept by NATS ${version}: ${lost} although it was acknowledged; ${remedy}`];
}

function isFrom(version: string, first: readonly number[]): boolean {
  const numbers = version.split(/[.-]/).map(Number);
  const at = first.findIndex((number, index) => numbers[index] !== number);
  return at === -1 || (numbers[at] ?? 0) > (first[at] ?? 0);
}
