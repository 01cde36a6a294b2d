import { rm } from "node:fs/promises";
import { join } from "node:path";
import type { PluginSetup } from "deneb/sdk/testing";
import { DirectoryLog } from "./directory-log.js";

/** Seconds: cases wait so long for agents that are gone, and a machine that is busy for longer looks gone. */
const values = { partitions: 1, session_timeout: 8 };

/** How the conformance suites test this plugin; `deneb plugin test` reads it, too. */
export const setup: PluginSetup = {
  config: (folder) => ({ folder: join(folder, "log"), ...values }),
  limits: ({ capacity, transactionCapacity, waitSeconds }, folder) => ({
    folder,
    capacity,
    transactionCapacity,
    "keep-alive": waitSeconds,
    ...values,
  }),
  channel: { afterCrash: "copied", twoAgents: "shared" },
  openLogs: (folder) => ({
    make: (name, partitions) => new DirectoryLog({ folder: join(folder, name), partitions }),
    remove: (name) => rm(join(folder, name), { recursive: true }),
  }),
};
