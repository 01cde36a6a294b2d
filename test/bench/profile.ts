import { mkdir, mkdtemp, readdir, readFile } from "node:fs/promises";
import path from "node:path";
import { type CallFrame, PlacesOfCode } from "./places-of-code.js";

/** A part of the program, and its share of the time in which the main thread was busy: 0 to 1, of all places together 1. */
export interface Place {
  readonly name: string;
  readonly share: number;
}

/** Two times of the monotonic clock, in microseconds: those of V8 and of `process.hrtime` are the same. */
export interface Span {
  readonly from: number;
  readonly to: number;
}

/** What V8 writes: a tree of functions, and which of them ran at each sample. */
interface Profile {
  readonly startTime: number;
  readonly nodes: readonly { readonly id: number; readonly callFrame: CallFrame }[];
  readonly samples: readonly number[];
  /** Microseconds from each sample to the one before, of the first one to the start. */
  readonly timeDeltas: readonly number[];
}

/** The profiles of one run: each process that is started with the options writes its own when it ends. */
export interface ProfileFolder {
  readonly folder: string;
  /** Options of Node. */
  readonly options: readonly string[];
}

/** A new folder in the given one, named after the case. */
export async function newProfileFolder(parent: string, name: string): Promise<ProfileFolder> {
  await mkdir(parent, { recursive: true });
  const plain = name.toLowerCase().replace(/[^a-z0-9_]+/g, "-");
  const folder = await mkdtemp(path.join(path.resolve(parent), `${plain}-`));
  return { folder, options: ["--cpu-prof", "--cpu-prof-dir", folder] };
}

/** `CPU.<date>.<time>.<process>.<thread>.<number>.cpuprofile`; the main thread of a process is number 0. */
const OF_MAIN_THREAD = /^CPU\.\d+\.\d+\.\d+\.0\.\d+\.cpuprofile$/;
const IDLE = "(idle)";

/** Where the main threads of all profiles of the folder were busy in the span, the largest share first. */
export async function placesIn({ folder }: ProfileFolder, span: Span): Promise<readonly Place[]> {
  const files = (await readdir(folder)).filter((name) => OF_MAIN_THREAD.test(name));
  const places = new PlacesOfCode();
  const busy = new Map<string, number>();
  for (const file of files) {
    const profile: Profile = JSON.parse(await readFile(path.join(folder, file), "utf8"));
    for (const [frame, microseconds] of timesIn(profile, span)) {
      if (frame.functionName === IDLE) continue;
      const place = places.of(frame);
      busy.set(place, (busy.get(place) ?? 0) + microseconds);
    }
  }
  const all = [...busy.values()].reduce((sum, one) => sum + one, 0);
  return [...busy]
    .map(([name, microseconds]) => ({ name, share: microseconds / all }))
    .toSorted((one, other) => other.share - one.share);
}

/** Microseconds in each function itself. A sample stands for the time up to the next one. */
function timesIn(
  { startTime, nodes, samples, timeDeltas }: Profile,
  { from, to }: Span,
): ReadonlyMap<CallFrame, number> {
  const frames = new Map(nodes.map(({ id, callFrame }) => [id, callFrame]));
  const times = new Map<CallFrame, number>();
  let at = startTime;
  for (const [index, id] of samples.entries()) {
    at += timeDeltas[index] ?? 0;
    const frame = frames.get(id);
    const end = at + (timeDeltas[index + 1] ?? 0);
    const within = Math.min(end, to) - Math.max(at, from);
    if (frame !== undefined && within > 0) times.set(frame, (times.get(frame) ?? 0) + within);
  }
  return times;
}
