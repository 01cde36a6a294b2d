import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { postgresqlDatabase } from "../../support/postgresql.js";
import { at, base, clock, converted, noon, partitions, query, skip } from "./partitioned-postgresql.js";
import { entity, eventOf, never, sinkOf } from "./sinks.js";

describe("partitioned tables in PostgreSQL", { skip }, () => {
  test("each row is in the partition of its time, and a query of one day reads one partition", async (context) => {
    const { sink } = sinkOf({ ...base, partition: "day" }, clock(noon));
    context.after(() => sink.stop(never));

    await sink.persist(
      { events: [at(noon, "p1"), at("2027-01-01T00:00:00.000Z", "p1"), at("2150-01-01T00:00:00.000Z", "p1")] },
      never,
    );
    await sink.persist({ events: [at("2026-12-31T23:59:59.999Z", "p1")] }, never);
    const plan = await query(
      "EXPLAIN SELECT * FROM p1.urn_x WHERE recvtime >= '2027-01-01' AND recvtime < '2027-01-02'",
    );

    assert.deepEqual(await partitions("p1.urn_x"), [
      "deneb_urn_x_early: 0",
      "deneb_urn_x_late: 1",
      "deneb_urn_x_p2026_12_31: 2",
      "deneb_urn_x_p2027_01_01: 1",
    ]);
    assert.match(JSON.stringify(plan), /deneb_urn_x_p2027_01_01/);
    assert.doesNotMatch(JSON.stringify(plan), /p2026_12_31|late|early/);
  });

  test("the next partition of a table that gets rows is made in the last quarter of the day before", async (context) => {
    let now = noon;
    const { sink } = sinkOf({ ...base, partition: "day" }, () => new Date(now));
    context.after(() => sink.stop(never));

    await sink.persist({ events: [at(noon, "p2")] }, never);
    await sink.sweep();
    const before = await partitions("p2.urn_x");
    await sink.persist({ events: [at(noon, "p2")] }, never);
    now = "2026-12-31T18:30:00.000Z";
    await sink.sweep();

    assert.deepEqual(before, ["deneb_urn_x_p2026_12_31: 1"]);
    assert.deepEqual(await partitions("p2.urn_x"), ["deneb_urn_x_p2026_12_31: 2", "deneb_urn_x_p2027_01_01: 0"]);
  });

  test("a partition that an operator drops or detaches is made again when a row needs it", async (context) => {
    const { sink } = sinkOf({ ...base, partition: "day" }, clock(noon));
    context.after(() => sink.stop(never));

    await sink.persist({ events: [at(noon, "p3")] }, never);
    await query("DROP TABLE p3.deneb_urn_x_p2026_12_31");
    await sink.persist({ events: [at(noon, "p3")] }, never);
    await query("ALTER TABLE p3.urn_x DETACH PARTITION p3.deneb_urn_x_p2026_12_31");
    await sink.persist({ events: [at(noon, "p3")] }, never);

    assert.deepEqual(await partitions("p3.urn_x"), ["deneb_urn_x_p2026_12_31_3: 1"]);
    assert.equal((await query("SELECT * FROM p3.deneb_urn_x_p2026_12_31")).length, 1);
  });

  test("typed partitions are at midnights in UTC whatever zone, dates and texts the sessions have", async (context) => {
    const zoned = await postgresqlDatabase();
    context.after(() => zoned?.drop());
    // The server writes IST and reads it as the time of another country.
    await zoned?.query(`ALTER DATABASE ${zoned.database} SET TimeZone = 'Asia/Kolkata'`);
    await zoned?.query(`ALTER DATABASE ${zoned.database} SET DateStyle = 'SQL, DMY'`);
    await zoned?.query(`ALTER DATABASE ${zoned.database} SET standard_conforming_strings = off`);
    const config = { ...base, rdb_database: zoned?.database ?? "", attr_native_types: true } as const;
    const { sink } = sinkOf({ ...config, partition: "month" }, clock(noon));
    context.after(() => sink.stop(never));
    const times = [
      "2027-01-31T23:59:59.999Z",
      "2026-12-31T23:59:59.999Z",
      "2027-02-01T00:00:00.000Z",
      "2026-12-01T00:00:00.000Z",
      "2027-01-01T00:00:00.000Z",
    ];

    for (const time of times) await sink.persist({ events: [at(time, "zoned")] }, never);
    const rows = await zoned?.query(`
      SELECT c.relname, string_agg(r.a, ' ' ORDER BY r.a) AS times
      FROM zoned.urn_x r JOIN pg_class c ON c.oid = r.tableoid GROUP BY 1 ORDER BY 1`);

    assert.deepEqual(
      rows?.map(({ relname, times: own }) => `${relname} ${own}`),
      [
        "deneb_urn_x_p2026_12_01 2026-12-01T00:00:00.000Z 2026-12-31T23:59:59.999Z",
        "deneb_urn_x_p2027_01_01 2027-01-01T00:00:00.000Z 2027-01-31T23:59:59.999Z",
        "deneb_urn_x_p2027_02_01 2027-02-01T00:00:00.000Z",
      ],
    );
  });

  test("an entity that is named like a partition has a table of its own", async (context) => {
    const { sink } = sinkOf({ ...base, partition: "day" }, clock(noon));
    context.after(() => sink.stop(never));

    await sink.persist({ events: [at(noon, "p4")] }, never);
    await sink.persist({ events: [at(noon, "p4", "deneb_urn_x_p2026_12_31")] }, never);

    assert.deepEqual(await partitions("p4.urn_x"), ["deneb_urn_x_p2026_12_31: 1"]);
    assert.equal((await query("SELECT * FROM p4._deneb_urn_x_p2026_12_31")).length, 1);
  });

  test("a plain table keeps its rows, views, privileges, indexes and comment when it is partitioned", async (context) => {
    const { sink } = sinkOf(base, clock(noon));
    context.after(() => sink.stop(never));
    await sink.persist({ events: [at("2026-01-01T00:00:00.000Z", "p5"), at(noon, "p5")] }, never);
    await query("CREATE VIEW p5.seen WITH (security_barrier) AS SELECT a FROM p5.urn_x");
    await query("CREATE INDEX own ON p5.urn_x (entityid)");
    await query("GRANT SELECT ON p5.urn_x TO PUBLIC");
    await query("COMMENT ON TABLE p5.urn_x IS 'it''s'");

    const first = await converted({ indexes: true }, { tables: ["p5.urn_x", "p5.nothing"] });
    const second = await converted({ indexes: true }, { tables: ["p5.urn_x"] });
    await sink.persist({ events: [at("2027-01-05T00:00:00.000Z", "p5"), at(noon, "p5")] }, never);

    assert.deepEqual(
      first.map(({ outcome }) => outcome),
      ["done", "refused"],
    );
    assert.deepEqual(
      second.map(({ outcome }) => outcome),
      ["unchanged"],
    );
    assert.deepEqual(await partitions("p5.urn_x"), [
      "deneb_urn_x_before: 3",
      "deneb_urn_x_p2027_01_02: 0",
      // The rest of the month: the sink that wrote has no period of its own.
      "deneb_urn_x_p2027_01_03: 1",
    ]);
    assert.equal((await query("SELECT * FROM p5.seen")).length, 4);
    const [kept] = await query(`
      SELECT obj_description(oid) AS comment, has_table_privilege('public', oid, 'SELECT') AS granted,
        (SELECT string_agg(relname, ' ' ORDER BY relname) FROM pg_index JOIN pg_class i ON i.oid = indexrelid
          WHERE indrelid = c.oid) AS indexes FROM pg_class c WHERE oid = 'p5.urn_x'::regclass`);
    assert.deepEqual(kept, { comment: "it's", granted: "t", indexes: "deneb_urn_x_time own" });
  });

  test("a conversion that is killed at any step loses no row, and the next one ends it", async (context) => {
    const { sink } = sinkOf(base, clock(noon));
    context.after(() => sink.stop(never));
    let count = 0;
    let writing = true;
    const write = async () => {
      count += 1;
      await sink.persist({ events: [at(noon, "p6")] }, never);
    };
    await write();
    const writer = (async () => {
      while (writing) await write();
    })();

    const outcomes = [];
    for (const killed of [0, 1, 2, 3, 4, 5]) {
      const [result] = await converted({ indexes: true }, { tables: ["p6.urn_x"], killed });
      outcomes.push(result?.outcome);
      await write();
    }
    writing = false;
    await writer;

    assert.equal(outcomes.at(0), "refused");
    assert.equal(outcomes.at(-1) === "done" || outcomes.at(-1) === "unchanged", true);
    assert.equal((await query("SELECT * FROM p6.urn_x")).length, count);
    assert.match((await partitions("p6.urn_x"))[0] ?? "", /^deneb_urn_x_before: /);
  });

  test("rows after the end of an abandoned conversion are stored: the agent takes its constraint away", async (context) => {
    const { sink } = sinkOf(base, clock(noon));
    context.after(() => sink.stop(never));
    await sink.persist({ events: [at(noon, "p7")] }, never);

    // The second write would take the constraint away; a killed process does neither.
    await converted({}, { tables: ["p7.urn_x"], killed: 1 });
    const constrained = await query("SELECT conname FROM pg_constraint WHERE conrelid = 'p7.urn_x'::regclass");
    await sink.persist({ events: [at("2027-06-01T00:00:00.000Z", "p7")] }, never);

    assert.deepEqual(constrained, [{ conname: "deneb_until" }]);
    assert.equal((await query("SELECT * FROM p7.urn_x")).length, 2);
  });

  test("a table that something depends on is refused with the reason and stays as it is", async (context) => {
    const { sink } = sinkOf(base, clock(noon));
    context.after(() => sink.stop(never));
    const cases = [
      { id: "urn:m", change: "CREATE MATERIALIZED VIEW p8.m AS SELECT a FROM p8.urn_m", reason: /materialized view/ },
      { id: "urn:u", change: "CREATE UNIQUE INDEX ON p8.urn_u (a)", reason: /unique index/ },
      { id: "urn:c", change: "ALTER TABLE p8.urn_c ADD CHECK (a <> '')", reason: /constraints/ },
      { id: "urn:s", change: "ALTER TABLE p8.urn_s ENABLE ROW LEVEL SECURITY", reason: /row security/ },
      { id: "urn:n", change: "INSERT INTO p8.urn_n (a) VALUES ('no time')", reason: /deneb_until/ },
      { id: "urn:f", change: "INSERT INTO p8.urn_f (recvtime) VALUES ('2030-01-01')", reason: /deneb_until/ },
    ];
    for (const { id, change, reason } of cases) {
      await sink.persist({ events: [at(noon, "p8", id)] }, never);
      await query(change);
      const table = `p8.${id.replace(":", "_")}`;

      const [result] = await converted({}, { tables: [table] });

      assert.equal(result?.outcome, "refused");
      assert.match(result.reason ?? "", reason);
      const left = await query(
        `SELECT FROM pg_constraint WHERE conrelid = '${table}'::regclass AND conname = 'deneb_until'`,
      );
      assert.equal(left.length, 0);
      await sink.persist({ events: [at("2027-01-01T00:00:00.000Z", "p8", id)] }, never);
    }
  });

  test("a column that takes no NULL does so in all partitions of a converted table", async (context) => {
    const { sink } = sinkOf(base, clock(noon));
    context.after(() => sink.stop(never));
    await sink.persist({ events: [at(noon, "p12")] }, never);
    await query("ALTER TABLE p12.urn_x ALTER entityid SET NOT NULL, ALTER recvtime SET NOT NULL");

    const [result] = await converted({}, { tables: ["p12.urn_x"] });
    await sink.persist({ events: [at("2027-06-01T00:00:00.000Z", "p12")] }, never);

    assert.equal(result?.outcome, "done", result?.reason);
    const strict = await query(
      "SELECT attrelid::regclass FROM pg_attribute WHERE attnotnull AND attname = 'entityid' AND attrelid IN (SELECT inhrelid FROM pg_inherits WHERE inhparent = 'p12.urn_x'::regclass)",
    );
    assert.equal(strict.length, (await partitions("p12.urn_x")).length);
  });

  test("of a table that was converted old rows are deleted, and a new attribute is a column of all partitions", async (context) => {
    const { sink } = sinkOf(base, clock(noon), undefined, { name: "aging" });
    context.after(() => sink.stop(never));
    await sink.persist({ events: [at("2026-01-01T00:00:00.000Z", "p10"), at(noon, "p10")] }, never);
    const own = { ...base, partition: "day", retention_days: 30 } as const;
    await converted(own, { tables: ["p10.urn_x"], sink: "aging" });
    const sweeping = sinkOf(own, clock(noon), undefined, { name: "aging" });
    context.after(() => sweeping.sink.stop(never));
    const added = eventOf(entity("urn:x", { b: "1" }), "p10");

    await sweeping.sink.sweep();
    await sweeping.sink.persist({ events: [at("2027-01-02T00:00:00.000Z", "p10")] }, never);
    await sweeping.sink.persist(
      {
        events: [
          { ...added, headers: { ...added.headers, timestamp: String(Date.parse("2027-01-02T00:00:01.000Z")) } },
        ],
      },
      never,
    );

    assert.deepEqual(await partitions("p10.urn_x"), ["deneb_urn_x_before: 1", "deneb_urn_x_p2027_01_02: 2"]);
    assert.equal((await query("SELECT * FROM p10.urn_x WHERE b = '1'")).length, 1);
  });

  test("a dry run changes nothing", async (context) => {
    const { sink } = sinkOf(base, clock(noon));
    context.after(() => sink.stop(never));
    await sink.persist({ events: [at(noon, "p9")] }, never);

    const told: (readonly number[])[] = [];
    const progress = (...counts: readonly number[]) => told.push(counts);
    const [result] = await converted({}, { tables: ["p9.urn_x"], dryRun: true, progress });

    assert.equal(result?.outcome, "done");
    assert.deepEqual(told, [[1, 1]]);
    assert.deepEqual(await partitions("p9.urn_x"), []);
  });
});
