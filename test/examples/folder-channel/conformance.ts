import { join } from "node:path";
import type { PluginSetup } from "deneb/sdk/testing";

/** How the conformance suites test this plugin; `deneb plugin test` reads it, too. */
export const setup: PluginSetup = {
  config: (folder) => ({ folder: join(folder, "events") }),
  limits: ({ capacity, transactionCapacity, waitSeconds }, folder) => ({
    folder,
    capacity,
    transactionCapacity,
    "keep-alive": waitSeconds,
  }),
  channel: { afterCrash: "copied", twoAgents: "refused" },
};
