import type { Kind } from "../../sdk/index.js";

/** A component of a predecessor that this agent has no plugin for. */
interface AbsentType {
  /** What a fault says of it. */
  readonly reason: string;
  /** True where the component only changed what others do, so that an agent runs without it. */
  readonly withoutEffect: boolean;
}

/** What is known of a type that no plugin accepts; undefined for a name that is none of a predecessor. */
export function absentType(kind: Kind, name: string): AbsentType | undefined {
  const [, owner, className = name] = PACKAGED.exec(name) ?? [];
  if (kind === "interceptor" && GROUPING.test(className)) return { reason: NO_GROUPING, withoutEffect: true };
  const whose = owners.get(owner?.toLowerCase() ?? "") ?? (NGSI_CLASS.test(className) ? "the original" : undefined);
  if (whose === undefined) return undefined;
  const instead = inPlaceOf(kind, className);
  if (owner !== undefined && instead !== undefined)
    return {
      reason: `${className} of ${whose} is not part of Deneb; write ${instead} in its place`,
      withoutEffect: false,
    };
  const ofStore = kind === "sink" ? storeOf(className) : "";
  if (ofStore === "kafka")
    return { reason: `${className} of ${whose} is not part of Deneb; ${OTHER_RECORDS}`, withoutEffect: false };
  const store = stores.get(ofStore);
  const what = store === undefined ? "" : `; there is no ${kind} for ${store}`;
  const remedy = `remove the ${kind}, or write a plugin for it (docs/writing-a-plugin.md)`;
  return { reason: `${className} of ${whose} is not part of Deneb${what}; ${remedy}`, withoutEffect: false };
}

const PACKAGED = /^(com\.telefonica|org\.apache\.flume)\.(?:.*\.)?([^.]+)$/i;
const NGSI_CLASS = /^NGSI(?:LD)?\w*(?:Sink|Handler|Channel|(?:Interceptor\$Builder))$/i;
const owners: ReadonlyMap<string, string> = new Map([
  ["com.telefonica", "the original"],
  ["org.apache.flume", "Flume"],
]);

/** Under the names that it had one after another. */
const GROUPING = /^(?:(?:ngsi)?groupinginterceptor|destinationextractor)\$builder$/i;
const NO_GROUPING =
  "has no effect: grouping rules are not part of Deneb, as they are not of the last releases of the original; " +
  "name mappings can take their place (docs/compatibility.md#grouping-rules)";

/** What does the work of a class that has another name now. */
function inPlaceOf(kind: Kind, className: string): string | undefined {
  // Before its release 1.0 the classes of the original began with the name of the broker.
  const [, ofBroker] = /^orion(.+)$/i.exec(className) ?? [];
  if (kind === "handler" && ofBroker?.toLowerCase() === "resthandler") return "NGSIRestHandler";
  if (kind !== "sink") return undefined;
  if (className.toLowerCase() === "ngsitestsink") return "logger";
  const store = ofBroker === undefined ? "" : storeOf(ofBroker);
  return ["mysql", "postgresql"].includes(store) ? `NGSI${ofBroker}` : undefined;
}

function storeOf(className: string): string {
  return className
    .toLowerCase()
    .replace(/^ngsi(?:ld)?/, "")
    .replace(/sink$/, "");
}

const OTHER_RECORDS =
  "its place can take the sink kafka, which has properties and records of its own (plugins/kafka/sink/README.md); " +
  "write that one, or remove the sink";

/** The stores of sinks by the names of their classes, without the parts that all share. */
const stores: ReadonlyMap<string, string> = new Map([
  ["arcgis", "ArcGIS"],
  ["arcgisfeaturetable", "ArcGIS"],
  ["carto", "Carto"],
  ["cartodb", "Carto"],
  ["ckan", "CKAN"],
  ["dynamodb", "DynamoDB"],
  ["elasticsearch", "Elasticsearch"],
  ["hdfs", "HDFS"],
  ["hdfsevent", "HDFS"],
  ["hive", "Hive"],
  ["mongo", "MongoDB"],
  ["oraclesql", "Oracle"],
  ["orion", "a second broker"],
  ["sth", "the short-term history (STH) in MongoDB"],
]);
