import assert from "node:assert/strict";
import { ldEvent } from "../plugins/rdb-sink/ld-events.js";
import { onEveryDatabase, persist } from "../plugins/rdb-sink/on-every-database.js";
import { attribute, entity, eventOf, receivedAt } from "../plugins/rdb-sink/sinks.js";
import { v2Attribute, v2Entity, v2Event } from "../plugins/rdb-sink/v2-events.js";

const recvtime = "2020-05-13 14:46:21.918";
const instant = String(Date.parse(receivedAt));
const speed = v2Attribute("speed", "float", 112.9, { unit: "km/h" });
const metadata = '[{"name":"unit","type":"Text","value":"km/h"}]';

await onEveryDatabase("layouts", [
  {
    name: "an entity of NGSI v2 has a column for each attribute and one for its metadata",
    service: "v2column",
    run: async (place, service) => {
      const sink = await place.sink();

      await persist(sink, v2Event(v2Entity("car1", speed), service));
      await persist(sink, v2Event(v2Entity("car1", v2Attribute("oil", "Number", undefined)), service));

      const fixed = { recvtime, fiwareservicepath: "/", entityid: "car1", entitytype: "T" };
      assert.deepEqual(await place.rows(service, "car1_t"), [
        { ...fixed, speed: "112.9", speed_md: metadata, oil: undefined, oil_md: undefined },
        { ...fixed, speed: undefined, speed_md: undefined, oil: undefined, oil_md: "[]" },
      ]);
    },
  },
  {
    name: "a string of a JsonProperty is JSON text in both layouts; one of a type of NGSI v2 with that name is plain",
    service: "jsonproperty",
    run: async (place, service) => {
      const column = await place.sink();
      const row = await place.sink({ attr_persistence: "row" });
      const sub = { type: "JsonProperty", json: "x" };
      const data = { data: { type: "JsonProperty", json: "12", sub } };

      await persist(column, ldEvent("urn:c", data, service));
      await persist(column, v2Event(v2Entity("c", v2Attribute("data", "JsonProperty", "12")), service));
      await persist(row, ldEvent("urn:r", data, service));
      await persist(row, v2Event(v2Entity("r", v2Attribute("data", "JsonProperty", "12")), service));

      const [ld = {}] = await place.rows(service, "urn_c");
      const [v2 = {}] = await place.rows(service, "c_t");
      const [ldRow = {}] = await place.rows(service, "urn_r");
      const [v2Row = {}] = await place.rows(service, "r_t");
      assert.deepEqual([ld["data"], ld["data_sub"], v2["data"]], ['"12"', '"x"', "12"]);
      assert.deepEqual([ldRow["attrvalue"], v2Row["attrvalue"]], ['"12"', "12"]);
    },
  },
  {
    name: "attr_metadata_store = false leaves out the metadata in both layouts",
    service: "v2nometadata",
    run: async (place, service) => {
      const column = await place.sink({ attr_metadata_store: false });
      const row = await place.sink({ attr_metadata_store: false, attr_persistence: "row" });

      await persist(column, v2Event(v2Entity("c", speed), service));
      await persist(row, v2Event(v2Entity("r", speed), service));

      const [first = {}] = await place.rows(service, "c_t");
      const [second = {}] = await place.rows(service, "r_t");
      assert.deepEqual(Object.keys(first), ["recvtime", "fiwareservicepath", "entityid", "entitytype", "speed"]);
      assert.deepEqual(Object.keys(second).at(-1), "attrvalue");
    },
  },
  {
    name: "an entity of NGSI v2 has a row for each attribute in the row layout, in one table for all",
    service: "v2row",
    run: async (place, service) => {
      const sink = await place.sink({ attr_persistence: "row" });
      const oil = v2Attribute("oil level", "Number", undefined);

      await persist(sink, v2Event(v2Entity("car1", speed, oil), service, { servicePath: "/wheels" }));
      await persist(
        sink,
        v2Event(v2Entity("car1", v2Attribute("alterationType", "Text", "entityUpdate")), service, {
          servicePath: "/wheels",
        }),
      );

      const fixed = { recvtimets: instant, recvtime, fiwareservicepath: "/wheels", entityid: "car1", entitytype: "T" };
      assert.deepEqual(await place.rows(service, "wheels_car1_t"), [
        { ...fixed, attrname: "speed", attrtype: "float", attrvalue: "112.9", attrmd: metadata },
        { ...fixed, attrname: "oil level", attrtype: "Number", attrvalue: undefined, attrmd: "[]" },
        { ...fixed, attrname: "alterationType", attrtype: "Text", attrvalue: "entityUpdate", attrmd: "[]" },
      ]);
    },
  },
  {
    name: "the members of an NGSI-LD attribute are its metadata in the row layout",
    service: "ldrow",
    run: async (place, service) => {
      const body = { ...entity("urn:x:1", {}), attributes: [attribute("speed", "23", { unitCode: "KMH" })] };

      await persist(await place.sink({ attr_persistence: "row" }), eventOf(body, service));

      assert.deepEqual(await place.rows(service, "urn_x_1"), [
        {
          recvtimets: instant,
          recvtime: receivedAt,
          fiwareservicepath: "/",
          entityid: "urn:x:1",
          entitytype: "T",
          attrname: "speed",
          attrtype: "Property",
          attrvalue: "23",
          attrmd: '[{"name":"unitCode","type":"Text","value":"KMH"}]',
        },
      ]);
    },
  },
  {
    name: "members of members and other instances are metadata in the row layout",
    service: "ldrowdeep",
    run: async (place, service) => {
      const accuracy = { type: "Property", value: 0.5, unitCode: "P1", by: { type: "Relationship", object: "urn:o" } };
      const gps = { type: "Property", value: 2, datasetId: "urn:gps" };
      const sink = await place.sink({ attr_persistence: "row" });

      await persist(sink, ldEvent("e", { speed: [gps, { type: "Property", value: 1, accuracy }] }, service));

      const [row = {}] = await place.rows(service, "e");
      assert.equal(row["attrvalue"], "1");
      assert.deepEqual(JSON.parse(row["attrmd"] ?? ""), [
        {
          name: "accuracy",
          type: "Property",
          value: "0.5",
          metadata: [
            { name: "unitCode", type: "Text", value: "P1" },
            { name: "by", type: "Relationship", value: "urn:o" },
          ],
        },
        { name: "datasets", type: "StructuredValue", value: [gps] },
      ]);
    },
  },
  {
    name: "dm-by-attribute keeps each attribute in a table of its own",
    service: "byattribute",
    run: async (place, service) => {
      const body = v2Entity("car1", speed, v2Attribute("oil", "Number", 74.6));

      await persist(await place.sink({ data_model: "dm-by-attribute" }), v2Event(body, service));

      assert.equal((await place.rows(service, "car1_t_speed"))[0]?.["speed"], "112.9");
      assert.equal((await place.rows(service, "car1_t_oil"))[0]?.["oil"], "74.6");
    },
  },
  {
    name: "an alterationType other than entityDelete is no column, and an entity with nothing else has a row",
    service: "alteration",
    run: async (place, service) => {
      const body = v2Entity("car1", v2Attribute("alterationType", "Text", "entityUpdate"));

      await persist(await place.sink(), v2Event(body, service));

      assert.deepEqual(await place.rows(service, "car1_t"), [
        { recvtime, fiwareservicepath: "/", entityid: "car1", entitytype: "T" },
      ]);
    },
  },
  {
    name: "texts of a hundred thousand characters are kept, also where shorter ones came first",
    service: "longtexts",
    run: async (place, service) => {
      const sink = await place.sink();
      const long = "é".repeat(100_000);

      await persist(sink, eventOf(entity("e", { a: "short" }), service));
      await persist(sink, eventOf(entity("e", { a: long, b: long }), service));

      const [, row = {}] = await place.rows(service, "e");
      assert.equal(row["a"], long);
      assert.equal(row["b"], long);
    },
  },
]);
