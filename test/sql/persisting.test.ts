import assert from "node:assert/strict";
import { test } from "node:test";
import { codeOf, retryableOf } from "../../core/sdk/index.js";
import { fixed, onEveryDatabase, persist } from "../plugins/rdb-sink/on-every-database.js";
import { entity, eventOf, never, sinkOf } from "../plugins/rdb-sink/sinks.js";

await onEveryDatabase("writing", [
  {
    name: "a first entity creates schema and table, a second one adds a row",
    service: "made",
    run: async (place, service) => {
      const sink = await place.sink();

      const receipt = await persist(sink, eventOf(entity("urn:a:1", { Temp: "20", "b c": "x" }), service));
      await persist(sink, eventOf(entity("urn:a:1", { Temp: "21", "b c": "y" }), service));

      assert.ok(receipt.requestBytes > 0);
      assert.deepEqual(await place.rows(service, "urn_a_1"), [
        { ...fixed("urn:a:1"), temp: "20", "b c": "x" },
        { ...fixed("urn:a:1"), temp: "21", "b c": "y" },
      ]);
    },
  },
  {
    name: "a new attribute becomes a column, a missing one NULL",
    service: "widened",
    run: async (place, service) => {
      const sink = await place.sink();

      await persist(sink, eventOf(entity("w", { a: "1" }), service));
      await persist(sink, eventOf(entity("w", { b: "2", c: "3" }), service));

      assert.deepEqual(await place.rows(service, "w"), [
        { ...fixed("w"), a: "1", b: undefined, c: undefined },
        { ...fixed("w"), a: undefined, b: "2", c: "3" },
      ]);
    },
  },
  {
    name: "entities of one table with different attributes share a batch",
    service: "mixed",
    run: async (place, service) => {
      const events = [{ a: "1", b: "2" }, { b: "3", a: "4" }, { c: "5" }].map((one) =>
        eventOf(entity("m", one), service),
      );

      await persist(await place.sink(), ...events);

      assert.deepEqual(await place.rows(service, "m"), [
        { ...fixed("m"), a: "1", b: "2", c: undefined },
        { ...fixed("m"), a: "4", b: "3", c: undefined },
        { ...fixed("m"), a: undefined, b: undefined, c: "5" },
      ]);
    },
  },
  {
    name: "of a batch with a NUL nothing is stored, permanently",
    service: "nul",
    run: async (place, service) => {
      const sink = await place.sink();
      await persist(sink, eventOf(entity("n", { a: "1" }), service));
      const [good, bad] = [eventOf(entity("n", { a: "2" }), service), eventOf(entity("n", { a: "x\0y" }), service)];

      await assert.rejects(persist(sink, good, bad), { code: "VALUE_NOT_STORABLE", retryable: false });

      assert.equal((await place.rows(service, "n")).length, 1);
    },
  },
  {
    name: "an event whose time of reception is none, as an interceptor may leave it, is refused with what the header has",
    service: "timeless",
    run: async (place, service) => {
      const sink = await place.sink();
      const { headers, body } = eventOf(entity("n", { a: "1" }), service);

      for (const timestamp of ["", "0x10", "2026-01-01T00:00:00Z"])
        await assert.rejects(persist(sink, { headers: { ...headers, timestamp }, body }), {
          code: "INVALID_TIME",
          retryable: false,
          message: new RegExp(
            `entity "n": its header "timestamp" is "${timestamp}", which is not milliseconds since 1970`,
          ),
        });
    },
  },
  {
    name: "a batch may hold several schemas and tables",
    service: "several",
    run: async (place, service) => {
      const schemas = [service, `${service}-b`, `${place.prefix}main`, `${place.prefix}temp`];
      const events = schemas.flatMap((schema) => ["1", "2"].map((id) => eventOf(entity(id, { a: schema }), schema)));

      await persist(await place.sink(), ...events);

      for (const schema of schemas) assert.deepEqual(await place.rows(schema, "2"), [{ ...fixed("2"), a: schema }]);
    },
  },
  {
    name: "1,500 rows of a batch keep their order",
    service: "many",
    run: async (place, service) => {
      const numbers = Array.from({ length: 1500 }, (_, index) => String(index));

      await persist(await place.sink(), ...numbers.map((a) => eventOf(entity("m", { a }), service)));

      assert.deepEqual(
        (await place.rows(service, "m")).map(({ a }) => a),
        numbers,
      );
    },
  },
  {
    name: "sinks that create the same tables at the same time all store their rows",
    service: "racing",
    run: async (place, service) => {
      const sinks = await Promise.all(Array.from({ length: 4 }, () => place.sink()));
      const ids = Array.from({ length: 20 }, (_, index) => `r${index}`);

      await Promise.all(
        sinks.map((sink, index) =>
          persist(sink, ...ids.map((id) => eventOf(entity(id, { [`a${index}`]: "1" }), service))),
        ),
      );

      for (const id of ids) assert.equal((await place.rows(service, id)).length, sinks.length);
    },
  },
  {
    name: "what is stored exists after a restart",
    service: "restarted",
    run: async (place, service) => {
      const first = await place.sink();
      await persist(first, eventOf(entity("r", { a: "1" }), service));
      await first.sink.stop(never);

      await persist(await place.sink(), eventOf(entity("r", { a: "2" }), service));

      assert.deepEqual(
        (await place.rows(service, "r")).map(({ a }) => a),
        ["1", "2"],
      );
    },
  },
  {
    name: "an entity with too many attributes for a table is refused permanently",
    service: "wide",
    run: async (place, service) => {
      const wide = Object.fromEntries(Array.from({ length: 2100 }, (_, index) => [`a${index}`, "1"]));
      const sink = await place.sink();

      const failure = await persist(sink, eventOf(entity("w", wide), service)).catch((error: unknown) => error);
      await persist(sink, eventOf(entity("w", { a: "1" }), service));

      assert.deepEqual([codeOf(failure), retryableOf(failure)], ["DATA_REFUSED", false]);
      assert.equal((await place.rows(service, "w")).length, 1);
    },
  },
  {
    name: "a batch aborted before it was written is not stored and may be retried",
    service: "aborted",
    run: async (place, service) => {
      const { sink } = await place.sink();
      const batch = { events: [eventOf(entity("a", { a: "1" }), service)] };

      await assert.rejects(sink.persist(batch, AbortSignal.abort()), { code: "WRITE_ABORTED", retryable: true });
      await sink.persist(batch, never);

      assert.equal((await place.rows(service, "a")).length, 1);
    },
  },
  {
    name: "entities without attributes have no row and cause one warning in a minute",
    service: "empty",
    run: async (place, service) => {
      const made = await place.sink();

      const receipt = await persist(made, eventOf(entity("e", {}), service), eventOf(entity("f", {}), service));

      assert.deepEqual(receipt, { requestBytes: 0, responseBytes: 0 });
      assert.equal(made.lines.filter(({ level }) => level === "warn").length, 1);
    },
  },
]);

for (const rdb_dialect of ["postgresql", "mysql", "sqlite"] as const)
  test(`a sink on ${rdb_dialect} may be stopped before it is started, and twice`, async () => {
    const { sink } = sinkOf({ rdb_dialect });

    await sink.stop(never);
    await sink.stop(never);
  });
