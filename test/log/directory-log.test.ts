import { rm } from "node:fs/promises";
import path from "node:path";
import { test } from "node:test";
import { directoryLog } from "../support/directory-log.js";
import { tempFolder } from "../support/temp-folder.js";
import { partitionedLogCases } from "./partitioned-log-cases.js";

for (const { title, run } of partitionedLogCases)
  test(`a log in a directory: ${title}`, async (context) => {
    const folder = await tempFolder(context);
    const of = (name: string) => path.join(folder, name);
    await run({
      make: async (name, partitions) => directoryLog({ folder: of(name), partitions }),
      remove: (name) => rm(of(name), { recursive: true }),
    });
  });
