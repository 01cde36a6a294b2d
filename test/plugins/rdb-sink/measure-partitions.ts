/**
 * Measures what partitions and geometries cost in PostgreSQL with PostGIS. A person runs it; nothing is asserted.
 *
 * `node dist/test/plugins/rdb-sink/measure-partitions.js drop [ROWS...]`: the time to drop a partition of each size.
 * `node dist/test/plugins/rdb-sink/measure-partitions.js pairs [PAIRS]`: writes batches to tables of two kinds in turn, and
 * what the second kind takes of the time of the first, by the medians and by the lower quartiles, which other work disturbs less.
 */
import type { Attribute } from "../../../core/ngsi/index.js";
import type { Event } from "../../../core/sdk/index.js";
import type { RdbConfig } from "../../../plugins/rdb-sink/config.js";
import { postgisDatabase, type TestDatabase } from "../../support/postgresql.js";
import { attribute, entity, eventOf, never, sinkOf } from "./sinks.js";

const NOON = Date.parse("2026-12-31T12:00:00Z");
const DAY = 86_400_000;
const TABLES = 100;
const ROWS_OF_A_TABLE = 10;

const place = ({ host, port, user, password, database }: TestDatabase): Partial<RdbConfig> => ({
  rdb_host: host,
  rdb_port: port,
  rdb_username: user,
  rdb_password: password,
  rdb_database: database,
});

function timed(event: Event, time: number): Event {
  return { ...event, headers: { ...event.headers, timestamp: String(time) } };
}

async function seconds(work: () => Promise<unknown>): Promise<number> {
  const from = performance.now();
  await work();
  return (performance.now() - from) / 1000;
}

/** A sweep that drops one partition of the given size. */
async function drop(server: TestDatabase, rows: number): Promise<string> {
  const table = `service.urn_${rows}`;
  const config = { ...place(server), partition: "day", retention_days: 1, rdb_statement_timeout: 0 } as const;
  const { sink } = sinkOf(config, () => new Date(NOON));
  const events = [NOON - 9 * DAY, NOON].map((time) =>
    timed(eventOf(entity(`urn:${rows}`, { a: "1" }), "service"), time),
  );
  await sink.persist({ events }, never);
  await server.query(`INSERT INTO ${table} (recvtime, entityid, entitytype, a)
    SELECT '2026-12-22T12:00:00.000Z', 'urn:${rows}', 'T', i::text FROM generate_series(2, ${rows}) AS i`);
  const [size] = await server.query(
    `SELECT pg_size_pretty(pg_total_relation_size('service.deneb_urn_${rows}_p2026_12_22')) AS s`,
  );
  const dropping = await seconds(() => sink.sweep());
  const [left] = await server.query(`SELECT count(*) AS n FROM ${table}`);
  await sink.stop(never);
  return `a partition of ${rows} rows (${size?.["s"]}): sweep ${dropping.toFixed(3)} s, ${left?.["n"]} row left`;
}

interface Pair {
  readonly name: string;
  readonly configs: readonly [Partial<RdbConfig>, Partial<RdbConfig>];
  readonly attributes: (row: number) => readonly Attribute[];
}

const texts = (row: number) => [attribute("temperature", `2${row}.5`), attribute("name", "a room of a house")];

function point(row: number): Attribute {
  const text = JSON.stringify({ type: "Point", coordinates: [2 + row / 1000, 48 + row / 1000] });
  return { name: "location", type: "GeoProperty", form: "normalized", value: { kind: "object", text }, members: [] };
}

const pairs: readonly Pair[] = [
  { name: "partition = day beside none", configs: [{}, { partition: "day" }], attributes: texts },
  {
    name: "partition = day beside none, both with indexes",
    configs: [{ indexes: true }, { partition: "day", indexes: true }],
    attributes: texts,
  },
  {
    name: "attr_geometry = true beside text, points",
    configs: [{}, { attr_geometry: true }],
    attributes: (row) => [...texts(row), point(row)],
  },
];

async function measurePair(server: TestDatabase, { name, configs, attributes }: Pair, rounds: number): Promise<string> {
  const sides = configs.map((config, side) => {
    const service = `side${side}_${name.replaceAll(/\W/g, "_").slice(0, 30)}`;
    return { service, ...sinkOf({ ...place(server), ...config }, () => new Date(NOON), undefined, { name: service }) };
  });
  const batch = (service: string) =>
    Array.from({ length: TABLES * ROWS_OF_A_TABLE }, (_, row) => {
      const body = { id: `urn:${row % TABLES}`, type: "T", attributes: attributes(row) };
      return timed(eventOf(body, service), NOON);
    });
  const batches = sides.map(({ service }) => batch(service));
  const write = async (side: number) =>
    await seconds(async () => await sides[side]?.sink.persist({ events: batches[side] ?? [] }, never));
  const times: [number[], number[]] = [[], []];
  // The first ones create the tables.
  for (let round = -3; round < rounds; round += 1)
    for (const side of round % 2 === 0 ? ([0, 1] as const) : ([1, 0] as const)) {
      const time = await write(side);
      if (round >= 0) times[side].push(time);
    }
  for (const { sink } of sides) await sink.stop(never);
  const rows = TABLES * ROWS_OF_A_TABLE;
  const told = [0.5, 0.25].map((part) => {
    const [first, second] = [at(times[0], part), at(times[1], part)];
    const more = `${((second / first - 1) * 100).toFixed(1)} % more`;
    return `${(first * 1000).toFixed(1)} and ${(second * 1000).toFixed(1)} ms, ${more}`;
  });
  return `${name}: ${rows} rows in ${TABLES} tables, ${rounds} pairs; medians ${told[0]}; lower quartiles ${told[1]}`;
}

function at(numbers: readonly number[], part: number): number {
  return [...numbers].sort((one, other) => one - other)[Math.floor(numbers.length * part)] ?? Number.NaN;
}

const [mode = "", ...given] = process.argv.slice(2);
const server = await postgisDatabase();
if (server === undefined) throw new Error("PostgreSQL with PostGIS is not reachable");
try {
  const say = (line: string) => process.stdout.write(`${line}\n`);
  if (mode === "drop")
    for (const rows of given.length === 0 ? [1_000_000, 10_000_000] : given.map(Number)) say(await drop(server, rows));
  else if (mode === "pairs") for (const pair of pairs) say(await measurePair(server, pair, Number(given[0] ?? 200)));
  else say("drop [ROWS...] or pairs [PAIRS]");
} finally {
  await server.drop();
}
