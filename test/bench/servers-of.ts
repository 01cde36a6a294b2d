import type { ServerName } from "../support/servers.js";
import type { BenchCase, BenchChannel } from "./case.js";
import type { CeilingCase } from "./ceiling-case.js";
import type { BenchSet } from "./sets.js";
import type { BenchDatabase } from "./store.js";

const ofDatabase = { postgresql: ["postgresql"], mysql: ["mysql"], sqlite: [] } satisfies Record<
  BenchDatabase,
  readonly ServerName[]
>;

const ofChannel = { memory: [], file: [], kafka: ["kafka"], jetstream: ["nats"] } satisfies Record<
  BenchChannel,
  readonly ServerName[]
>;

const ofWriter = {
  "postgresql-copy": ["postgresql"],
  "postgresql-insert": ["postgresql"],
  "mysql-insert": ["mysql"],
  "sqlite-insert": [],
} satisfies Record<CeilingCase["writer"], readonly ServerName[]>;

/** The servers that something in the sets needs. PostgreSQL in any case: every measurement says which one there is. */
export function serversOf(sets: readonly BenchSet[]): ReadonlySet<ServerName> {
  const names = sets.flatMap(({ cases, ceilings, growth, scale }): readonly ServerName[] => {
    const benches: readonly BenchCase[] = [...cases, ...[...growth, ...scale].map(({ bench }) => bench)];
    return [
      ...benches.flatMap(({ database, channel }) => [...ofDatabase[database], ...ofChannel[channel]]),
      ...ceilings.flatMap(({ writer }) => ofWriter[writer]),
    ];
  });
  return new Set<ServerName>(["postgresql", ...names]);
}
