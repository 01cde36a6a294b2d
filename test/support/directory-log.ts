import path from "node:path";
import { after } from "node:test";
import type { PartitionedLog } from "deneb/log";
import { builtExample } from "./example-package.js";

export interface DirectoryLogSettings {
  readonly folder: string;
  readonly partitions: number;
}

const built = await builtExample("directory-log");
after(built.remove);

const example: { readonly DirectoryLog: new (settings: DirectoryLogSettings) => PartitionedLog } = await import(
  path.join(built.folder, "dist", "directory-log.js")
);

/** The log of the example: a folder for each part, a file for each record. */
export function directoryLog(settings: DirectoryLogSettings): PartitionedLog {
  return new example.DirectoryLog(settings);
}

/** The folder of the plugin with its channel. */
export const directoryLogPlugin: string = built.folder;
