import { access, constants, open, readdir, readFile } from "node:fs/promises";
import path from "node:path";
import { codeOf, type Examiner, type Probe } from "deneb/sdk";
import { CHECKPOINT_FILE, refuseNewerCheckpoint } from "./log/checkpoint.js";
import { newerVersion, readFully, refuseNoFile } from "./log/files.js";
import { firstOf, readSegmentHeader, SEGMENT_HEADER_BYTES, SEGMENT_VERSION } from "./log/segments.js";

/** Where a channel keeps its files, and how many bytes they may have. */
export interface LogFolders {
  readonly checkpointFolder: string;
  readonly dataFolders: readonly string[];
  readonly mostBytes: number;
}

/** Whether the folders can be used, have room, and hold files that this version reads. */
export function logProbes(
  { checkpointFolder, dataFolders, mostBytes }: LogFolders,
  examiner: Examiner,
): readonly Probe[] {
  const share = mostBytes / dataFolders.length;
  const checkpoint: Probe = {
    tries: "read the checkpoint",
    run: async () => {
      await readCheckpoint(path.join(checkpointFolder, CHECKPOINT_FILE));
      return { outcome: "ok" };
    },
  };
  const segments = (folder: string): Probe => ({
    tries: `read the files of events in "${folder}"`,
    run: async () => {
      const files = await readSegments(folder);
      return { outcome: "ok", reason: files === 1 ? "1 file" : `${files} files` };
    },
  });
  return [
    { ...examiner.folder(checkpointFolder, { locked: true }), next: [checkpoint] },
    ...dataFolders.map((folder) => ({
      ...examiner.folder(folder, { locked: true, mostBytes: share }),
      next: [segments(folder)],
    })),
  ];
}

/** A start opens it to write it, too. */
async function readCheckpoint(file: string): Promise<void> {
  await refuseNoFile(file);
  await ifThere(() => access(file, constants.R_OK | constants.W_OK));
  const bytes = await ifThere(() => readFile(file));
  if (bytes !== undefined) refuseNewerCheckpoint(file, bytes);
}

/** How many there are. Only their headers are read. */
async function readSegments(folder: string): Promise<number> {
  const names = (await ifThere(() => readdir(folder))) ?? [];
  const segments = names.filter((name) => firstOf(name) !== undefined);
  for (const name of segments) {
    const file = path.join(folder, name);
    await refuseNoFile(file);
    const handle = await ifThere(() => open(file, "r"));
    try {
      const header = handle && readSegmentHeader(await readFully(handle, 0, SEGMENT_HEADER_BYTES));
      if (header !== undefined && header.version > SEGMENT_VERSION)
        throw newerVersion(file, header.version, SEGMENT_VERSION);
    } finally {
      await handle?.close();
    }
  }
  return segments.length;
}

/** An agent that runs removes files at any time. */
async function ifThere<T>(read: () => Promise<T>): Promise<T | undefined> {
  try {
    return await read();
  } catch (error) {
    if (codeOf(error) === "ENOENT") return undefined;
    throw error;
  }
}
