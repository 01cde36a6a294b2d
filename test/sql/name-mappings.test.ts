import assert from "node:assert/strict";
import { compileNameMappings, type Entity, readNameMappingsFile, withMappedNames } from "../../core/ngsi/index.js";
import type { Event } from "../../core/sdk/index.js";
import type { Place } from "../plugins/rdb-sink/databases.js";
import { onEveryDatabase, persist } from "../plugins/rdb-sink/on-every-database.js";
import { entity, eventOf } from "../plugins/rdb-sink/sinks.js";
import { v2Attribute, v2Entity, v2Event } from "../plugins/rdb-sink/v2-events.js";

const mapped = { enable_name_mappings: true } as const;

/** Every name is mapped: the service to itself and a suffix, the rest to one name each. */
function mappedNames(event: Event, service: string): Event {
  const attributeMappings = [{ originalAttributeName: "speed", originalAttributeType: ".*", newAttributeName: "pace" }];
  const entityMappings = [{ newEntityId: "thing", newEntityType: "Kind", attributeMappings }];
  const document = {
    serviceMappings: [
      { newService: `${service}_new`, servicePathMappings: [{ newServicePath: "/new", entityMappings }] },
    ],
  };
  const { mappings } = compileNameMappings(readNameMappingsFile(JSON.stringify(document)).mappings);
  return withMappedNames(event, mappings);
}

const car = (id: string, value: number): Entity => v2Entity(id, v2Attribute("speed", "Number", value));
const carEvent = (service: string, id = "car1", later = 0, body = car(id, later)): Event =>
  mappedNames(v2Event(body, service, { servicePath: "/old", later }), service);

const models = [
  { model: "dm-by-entity", table: "new_thing_kind" },
  { model: "dm-by-entity-type", table: "new_kind" },
  { model: "dm-by-service-path", table: "new" },
  { model: "dm-by-attribute", table: "new_thing_kind_pace" },
  { model: "dm-by-fixed-entity-type", table: "kind" },
] as const;

await onEveryDatabase("name mappings", [
  ...models.map(({ model: data_model, table }, index) => ({
    name: `${data_model} names schema, table and column after the mappings, and its row keeps path, id and type`,
    service: `mapped${index}`,
    run: async (place: Place, service: string) => {
      await persist(await place.sink({ ...mapped, data_model }), carEvent(service));

      const [row = {}] = await place.rows(`${service}_new`, table);
      const { fiwareservicepath, entityid, entitytype, pace } = row;
      assert.deepEqual([fiwareservicepath, entityid, entitytype, pace], ["/old", "car1", "T", "0"]);
    },
  })),
  {
    name: "the row layout has the new names of attributes beside the original path, id and type",
    service: "mappedrow",
    run: async (place, service) => {
      await persist(await place.sink({ ...mapped, attr_persistence: "row" }), carEvent(service));

      const [row = {}] = await place.rows(`${service}_new`, "new_thing_kind");
      const { fiwareservicepath, entityid, entitytype, attrname } = row;
      assert.deepEqual([fiwareservicepath, entityid, entitytype, attrname], ["/old", "car1", "T", "pace"]);
    },
  },
  {
    name: "an entity of NGSI-LD keeps its id and type in the table of its mapped id",
    service: "mappedld",
    run: async (place, service) => {
      await persist(
        await place.sink(mapped),
        mappedNames(eventOf(entity("urn:x:1", { speed: "1" }), service), service),
      );

      const [row = {}] = await place.rows(`${service}_new`, "thing");
      assert.deepEqual([row["entityid"], row["entitytype"], row["pace"]], ["urn:x:1", "T", "1"]);
    },
  },
  ...(["column", "row"] as const).map((attr_persistence) => ({
    name: `last data of the ${attr_persistence} layout have a row for each original id, and a removal finds it`,
    service: `mappedlast${attr_persistence}`,
    run: async (place: Place, service: string) => {
      const sink = await place.sink({ ...mapped, attr_persistence, last_data_mode: "both" });
      const removal = v2Entity("car2", v2Attribute("alterationType", "Text", "entityDelete"));

      await persist(sink, carEvent(service, "car1"), carEvent(service, "car2"), carEvent(service, "car1", 1));
      const ids = async () =>
        (await place.rows(`${service}_new`, "new_thing_kind_last_data")).map(({ entityid }) => entityid).sort();
      const both = await ids();
      await persist(sink, carEvent(service, "car2", 2, removal));

      assert.deepEqual(both, ["car1", "car2"]);
      assert.deepEqual(await ids(), ["car1"]);
    },
  })),
  {
    name: "without enable_name_mappings the names of an event with mapped names are the original ones",
    service: "mappedoff",
    run: async (place, service) => {
      await persist(await place.sink(), carEvent(service));

      const [row = {}] = await place.rows(service, "old_car1_t");
      assert.deepEqual([row["entityid"], row["speed"]], ["car1", "0"]);
    },
  },
]);
