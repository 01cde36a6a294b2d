import type { Context, Examiner, Probe, ProbeResult } from "deneb/sdk";
import type { ServerAddress } from "deneb/sql";
import type pg from "pg";
import type { RdbConfig } from "../config.js";
import type { ServerSettings } from "../server.js";

export interface ProbeParts {
  readonly config: RdbConfig;
  readonly context: Pick<Context, "agent" | "name">;
  readonly settings: ServerSettings;
  readonly server: ServerAddress;
  readonly examiner: Examiner;
  /** What is tried when the user can log in. */
  readonly next: readonly Probe[];
}

/** One question to the database, over a connection of its own that changes nothing. */
export type Ask = (client: pg.Client, parts: ProbeParts) => Promise<ProbeResult>;
