import { existsSync } from "node:fs";
import path from "node:path";
import type { Ledger } from "../pipeline/ledger.js";
import type { Logger } from "../sdk/index.js";

interface LeftChannelsParts {
  readonly ledger: Pick<Ledger, "left">;
  readonly dataDir: string;
  readonly log: Logger;
}

/**
 * Warns of events that wait in the files of channels which the configuration no longer has, or has with a type that keeps no
 * files: nobody takes them. Called once the channels have started, while the books are those of the run before.
 */
export function warnOfLeftChannels({ ledger, dataDir, log }: LeftChannelsParts): void {
  for (const { channel, events } of ledger.left()) {
    const folder = path.join(dataDir, "channels", encodeURIComponent(channel));
    // Without files, what the books say was in memory, or in a log of its own.
    if (existsSync(folder))
      log.warn({ channel, events, folder, remedy }, "events wait in a channel that nobody takes from");
  }
}

const remedy = "start with the channel as it was, under its name and with a sink, until it is empty; then change it";
