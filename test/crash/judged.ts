import assert from "node:assert/strict";
import type { TestContext } from "node:test";
import { tempFolder } from "../support/temp-folder.js";
import type { HostilePostgresql } from "./hostile-postgresql.js";
import { killAgain, type Trouble } from "./killed-agent.js";
import { patience, seed } from "./measure.js";
import { seeded } from "./seeded.js";
import { type Verdict, verdict } from "./verdict.js";

export interface HostileCase {
  readonly server: HostilePostgresql;
  readonly trouble: Trouble;
  /** Of the agent; none unless told. */
  readonly kills?: number;
  /** Numbers of rows that the test dropped. */
  readonly gone?: readonly number[];
}

/** Eight clients send while the trouble lasts; then every accepted notification must be a row, and none a dead letter. */
export async function judged(
  context: TestContext,
  { server, trouble, kills = 0, gone = [] }: HostileCase,
): Promise<void> {
  const folder = await tempFolder(context);
  const clients = { count: 8 };

  const { sent, letters } = await killAgain({
    sink: server.sink,
    folder,
    kills,
    clients,
    random: seeded(seed),
    trouble,
    patience,
  });

  assert.deepEqual(letters, []);
  agreed(context, verdict(sent, [...gone, ...(await numbersIn(server))]));
}

export function agreed(context: TestContext, { accepted, ...faults }: Verdict): void {
  context.diagnostic(`${accepted} notifications accepted`);
  assert.ok(accepted > 0);
  assert.deepEqual(faults, { lost: [], doubled: [], unknown: [] });
}

/** The numbers of the rows that are stored. */
export async function numbersIn(server: HostilePostgresql): Promise<readonly number[]> {
  return (await server.query("select number from crash.room")).map(({ number }) => Number(number));
}
