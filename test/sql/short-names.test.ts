import assert from "node:assert/strict";
import { onEveryDatabase, persist } from "../plugins/rdb-sink/on-every-database.js";
import { entity, eventOf } from "../plugins/rdb-sink/sinks.js";

const iri = "https://uri.etsi.org/ngsi-ld/default-context/temperature";
const short = { attr_short_names: true } as const;

await onEveryDatabase("short names", [
  {
    name: "an attribute has one column, whether its name comes as a term or as an IRI",
    service: "shortnames",
    run: async (place, service) => {
      const sink = await place.sink(short);
      const events = ["temperature", iri].map((name) => eventOf(entity("urn:x:1", { [name]: name }), service));

      await persist(sink, ...events);

      const rows = await place.rows(service, "urn_x_1");
      assert.deepEqual(Object.keys(rows[0] ?? {}), ["recvtime", "entityid", "entitytype", "temperature"]);
      assert.deepEqual(
        rows.map(({ temperature }) => temperature),
        ["temperature", iri],
      );
    },
  },
  {
    name: "a short name that the table reserves gets a column of its own",
    service: "shortreserved",
    run: async (place, service) => {
      await persist(await place.sink(short), eventOf(entity("urn:x:1", { "https://x.org/entityId": "1" }), service));

      const [row = {}] = await place.rows(service, "urn_x_1");
      assert.equal(row["entityid"], "urn:x:1");
      assert.equal(Object.keys(row).length, 4);
    },
  },
  {
    name: "dm-by-attribute and the row layout use the short name too",
    service: "shortrow",
    run: async (place, service) => {
      const sink = await place.sink({ ...short, data_model: "dm-by-attribute", attr_persistence: "row" });

      await persist(sink, eventOf(entity("urn:x:1", { [iri]: "1", "https://b.org/temperature": "2" }), service));
      await persist(sink, eventOf(entity("urn:x:1", { [iri]: "3" }), service));

      const rows = await place.rows(service, "urn_x_1_temperature");
      assert.deepEqual(
        rows.map(({ attrname, attrvalue }) => [attrname, attrvalue]),
        [["temperature", "3"]],
      );
    },
  },
  {
    name: "without attr_short_names an IRI is a column of its own",
    service: "shortoff",
    run: async (place, service) => {
      await persist(await place.sink(), eventOf(entity("urn:x:1", { temperature: "1", [iri]: "2" }), service));

      const [row = {}] = await place.rows(service, "urn_x_1");
      assert.deepEqual([row["temperature"], row[iri]], ["1", "2"]);
    },
  },
]);
