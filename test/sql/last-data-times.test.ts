import assert from "node:assert/strict";
import type { Place } from "../plugins/rdb-sink/databases.js";
import { ldEvent } from "../plugins/rdb-sink/ld-events.js";
import { onEveryDatabase, persist } from "../plugins/rdb-sink/on-every-database.js";
import { v2Attribute, v2Entity, v2Event } from "../plugins/rdb-sink/v2-events.js";

process.env["TZ"] = "Europe/Madrid";

const measured = (value: string, more: object = {}) => ({ measured: { type: "Property", value }, ...more });

const micros = ["10:00:00Z", "10:00:00.5Z", "10:00:00.500001Z", "10:00:00.9996Z", "10:00:01.0001Z"].map(
  (time) => `2026-07-01T${time}`,
);

await onEveryDatabase("last data in an agent with a zone of its own", [
  ...[true, false].map((typed) => ({
    name: `times of ${typed ? "a type" : "texts"} are compared to the microsecond`,
    service: typed ? "microstyped" : "micros",
    run: async (place: Place, service: string) => {
      const config = {
        last_data_mode: "upsert",
        last_data_timestamp_key: "measured",
        attr_native_types: typed,
      } as const;
      const sink = await place.sink(config);
      const kept: unknown[] = [];

      for (const time of [...micros, ...micros]) {
        const entity = v2Entity("e", v2Attribute("measured", "DateTime", time), v2Attribute("of", "Text", time));
        await persist(sink, v2Event(entity, service));
        kept.push((await place.rows(service, "e_t_last_data"))[0]?.["of"]);
      }

      assert.deepEqual(kept, [...micros, ...micros.map(() => micros.at(-1))]);
    },
  })),
  ...[true, false].map((typed) => ({
    name: `times of other zones, ${typed ? "of a type" : "texts"}, are compared as instants`,
    service: typed ? "offsetstyped" : "offsets",
    run: async (place: Place, service: string) => {
      const config = {
        last_data_mode: "upsert",
        last_data_timestamp_key: "measured",
        attr_native_types: typed,
      } as const;
      const sink = await place.sink(config);
      const timed = (id: string, value: string) =>
        v2Event(v2Entity(id, v2Attribute("measured", "DateTime", value), v2Attribute("of", "Text", value)), service);
      const pairs = [
        ["2026-07-01T12:30:00+0200", "2026-07-01T10:00:00Z"],
        ["2026-07-01T10:00:00.5+00:00", "2026-07-01T12:00:00.4+0200"],
        ["2026-07-01T08:00:00.6-0200", "2026-07-01T10:00:00.55+0000"],
        ["2026-07-01T12:00:00.501Z", "2026-07-01T17:45:00.5+05:45"],
        ["2026-07-01T12:00:00.6+02", "2026-07-01T10:00:00.5Z"],
        // The types of columns take no quotes.
        ...(typed
          ? []
          : ([
              ['"2026-07-01T10:00:00.6Z"', '"2026-07-01T12:00:00.5+02:00"'],
              ["2026-07-01T10:00:00.6Z", '"2026-07-01T10:00:00.5Z"'],
              ['"2026-07-01t12:00:00.6+02:00"', "2026-07-01T10:00:00.5Z"],
            ] as const)),
      ] as const;

      for (const [index, [late, early]] of pairs.entries()) {
        await persist(sink, timed(`a${index}`, late), timed(`b${index}`, early));
        await persist(sink, timed(`a${index}`, early), timed(`b${index}`, late));
      }

      for (const [index, [late]] of pairs.entries()) {
        for (const id of [`a${index}`, `b${index}`]) {
          const [row] = await place.rows(service, `${id}_t_last_data`);
          assert.equal(row?.["of"], late);
        }
      }
    },
  })),
  ...(["v2", "ld"] as const).map((api) => ({
    name: `the milliseconds of reception tell which row of ${api} is newer`,
    service: `millis${api}`,
    run: async (place: Place, service: string) => {
      const sink = await place.sink({
        attr_persistence: "row",
        last_data_mode: "upsert",
        last_data_timestamp_key: "recvTimeTs",
      });
      const at = (later: number, id: string, p: string) =>
        api === "ld"
          ? ldEvent(id, { p: { type: "Property", value: p } }, service, later)
          : v2Event(v2Entity(id, v2Attribute("p", "Text", p)), service, { later });
      const kept = async (id: string) =>
        (await place.rows(service, `${id}${api === "ld" ? "" : "_t"}_last_data`)).map((row) => row["attrvalue"]);

      await persist(sink, at(1, "a", "first"));
      await persist(sink, at(0, "a", "older"));
      const early = await kept("a");
      await persist(sink, at(2, "a", "newer"), at(3, "a", "newest"), at(2, "a", "again"));

      assert.deepEqual([early, await kept("a")], [["first"], ["newest"]]);
    },
  })),
  {
    name: "a row that is older than the deletion of its batch does not come back, by the milliseconds of reception",
    service: "millisgone",
    run: async (place, service) => {
      const sink = await place.sink({
        attr_persistence: "row",
        last_data_mode: "upsert",
        last_data_timestamp_key: "recvTimeTs",
      });
      const gone = v2Attribute("alterationType", "Text", "entityDelete");
      const p = v2Attribute("p", "Text", "x");

      await persist(
        sink,
        v2Event(v2Entity("e", p), service),
        v2Event(v2Entity("e", p, gone), service, { later: 2 }),
        v2Event(v2Entity("e", p), service, { later: 1 }),
      );

      assert.deepEqual(await place.rows(service, "e_t_last_data"), []);
    },
  },
  {
    name: "letters of a time in lower case count like capitals",
    service: "letters",
    run: async (place, service) => {
      const sink = await place.sink({ last_data_mode: "upsert", last_data_timestamp_key: "measured" });

      for (const time of [
        "2026-07-01T10:00:00.5Z",
        "2026-07-01t10:00:00.4z",
        "2026-07-01t10:00:00.6z",
        "2026-07-01T10:00:00.55Z",
      ])
        await persist(sink, ldEvent("e", measured(time), service));

      assert.deepEqual(
        (await place.rows(service, "e_last_data")).map((row) => row["measured"]),
        ["2026-07-01t10:00:00.6z"],
      );
    },
  },
  {
    name: "a time without a zone is in UTC beside the deletion of one batch",
    service: "zones",
    run: async (place, service) => {
      const sink = await place.sink({ last_data_mode: "upsert", last_data_timestamp_key: "measured" });

      await persist(
        sink,
        ldEvent("e", measured("2026-07-01T10:00:00Z"), service),
        ldEvent("e", measured("2026-07-01T11:00:00Z", { deletedAt: "2026-07-01T11:00:00Z" }), service, 1),
        ldEvent("e", measured("2026-07-01T11:30:00"), service, 2),
      );

      assert.deepEqual(
        (await place.rows(service, "e_last_data")).map((row) => row["measured"]),
        ["2026-07-01T11:30:00"],
      );
    },
  },
  {
    name: "a row that is older than the deletion of its batch does not come back, however its time is written",
    service: "spellings",
    run: async (place, service) => {
      const sink = await place.sink({ last_data_mode: "upsert", last_data_timestamp_key: "measured" });
      const gone = measured("2026-07-01T10:00:00.0002Z", { deletedAt: "2026-07-01T10:00:00Z" });

      for (const earlier of [
        "2026-07-01T12:00:00+02",
        "2026-07-01t10:00:00.00015z",
        "2026-07-01 10:00",
        "2026-07-01",
      ]) {
        await persist(sink, ldEvent("e", gone, service, 1), ldEvent("e", measured(earlier), service, 2));
        assert.deepEqual(await place.rows(service, "e_last_data"), [], earlier);
      }
    },
  },
  ...[true, false].map((typed) => ({
    name: `a deletion at ${typed ? "what does not fit the type of the time" : "a text that is no time"} becomes a dead letter, and its entity stays`,
    service: typed ? "notimetyped" : "notime",
    run: async (place: Place, service: string) => {
      const sink = await place.sink({
        last_data_mode: "upsert",
        last_data_timestamp_key: "measured",
        attr_native_types: typed,
      });
      const measuredAt = (time: string) => v2Attribute("measured", "DateTime", time);
      const gone = v2Attribute("alterationType", "Text", "entityDelete");
      await persist(sink, v2Event(v2Entity("e", measuredAt("2026-07-01T10:00:00Z")), service));

      for (const time of ["now", "-2026-07-01T10:00:00Z"])
        await assert.rejects(persist(sink, v2Event(v2Entity("e", measuredAt(time), gone), service)), {
          code: "LAST_DATA_INCOMPLETE",
        });

      assert.equal((await place.rows(service, "e_t_last_data")).length, 1);
    },
  })),
]);
