import type { AttributeFormat } from "../headers.js";
import type { Attribute, Member } from "../model.js";
import { isArray, isObject, type Json, type JsonObject, toValue } from "../values/json.js";

/**
 * One attribute of an NGSI-LD entity: normalized when its type is one of NGSI-LD, concise when it has a value member
 * and no type, else simplified, which means that it is the value itself; so is a list of instances. The format decides
 * whether an object that may be either is concise; without it, a member that NGSI-LD does not know makes it a value.
 */
export function decodeLdAttribute(name: string, json: Json, format: AttributeFormat | undefined): Attribute {
  const shape = shapeOf(json);
  if (shape === undefined || (shape.form === "concise" && !isConcise(shape, format))) {
    return { name, form: "simplified", value: toValue(json), members: none };
  }
  return { name, type: shape.type, form: "normalized", value: toValue(valueIn(shape)), members: membersOf(shape) };
}

/** How an object looks when it is read as an attribute. */
interface Shape {
  readonly json: JsonObject;
  readonly form: "normalized" | "concise";
  readonly type: string;
  /** The member that holds the value; absent where a typed attribute came without one. */
  readonly valueName: ValueName | undefined;
}

function shapeOf(json: Json): Shape | undefined {
  if (!isObject(json)) return undefined;
  return json.type === undefined ? conciseShape(json) : typedShape(json, json.type);
}

function typedShape(json: JsonObject, sentType: Json): Shape | undefined {
  if (typeof sentType !== "string") return undefined;
  const type = sentType.startsWith(typePrefix) ? sentType.slice(typePrefix.length) : sentType;
  const ownName = valueMembers.get(type);
  if (ownName === undefined) return undefined;
  return { json, form: "normalized", type, valueName: ownName in json ? ownName : valueNameIn(json) };
}

function conciseShape(json: JsonObject): Shape | undefined {
  const valueName = valueNameIn(json);
  if (valueName === undefined) return undefined;
  const type = valueName === "value" && isGeometry(json.value) ? "GeoProperty" : inferredTypes[valueName];
  return { json, form: "concise", type, valueName };
}

function valueNameIn(json: JsonObject): ValueName | undefined {
  return valueNames.find((name) => name in json);
}

function isConcise(shape: Shape, format: AttributeFormat | undefined): boolean {
  if (format !== undefined) return format !== "simplified";
  const { json, valueName } = shape;
  return Object.entries(json).every(
    ([name, member]) =>
      name === "type" ||
      name === valueName ||
      metadataNames.has(name) ||
      (isObject(member) && valueNameIn(member) !== undefined),
  );
}

function membersOf({ json, valueName }: Shape): readonly Member[] {
  let members: Member[] | undefined;
  // JSON has own members only, and this makes no list of their names.
  for (const name in json) {
    if (name === "type" || name === valueName) continue;
    const member = decodeMember(name, json[name] ?? null);
    if (members === undefined) members = [member];
    else members.push(member);
  }
  return members ?? none;
}

const none: readonly Member[] = [];

/** A sub-attribute gives its value and type; what it has besides, there is no column for. */
function decodeMember(name: string, json: Json): Member {
  const shape = shapeOf(json);
  return shape === undefined
    ? { name, value: toValue(json) }
    : { name, type: shape.type, value: toValue(valueIn(shape)) };
}

function valueIn({ json, valueName }: Shape): Json {
  return valueName === undefined ? null : (json[valueName] ?? null);
}

/** What comes before the name of an attribute type where a broker sends it in full. */
export const typePrefix = "https://uri.etsi.org/ngsi-ld/";

/** The members that hold the value of an attribute, each with the type it stands for in the concise form. */
const inferredTypes = {
  value: "Property",
  object: "Relationship",
  languageMap: "LanguageProperty",
  vocab: "VocabProperty",
  json: "JsonProperty",
  valueList: "ListProperty",
  objectList: "ListRelationship",
} as const;

/** Name of a member that holds the value of an attribute. */
type ValueName = keyof typeof inferredTypes;

/** {@link ValueName} as a list, for looking one up. */
const valueNames: readonly ValueName[] = ["value", "object", "languageMap", "vocab", "json", "valueList", "objectList"];

/** The member that holds the value, by attribute type. */
export const valueMembers: ReadonlyMap<string, ValueName> = new Map([
  ["Property", "value"],
  ["Relationship", "object"],
  ["GeoProperty", "value"],
  ["LanguageProperty", "languageMap"],
  ["VocabProperty", "vocab"],
  ["VocabularyProperty", "vocab"],
  ["JsonProperty", "json"],
  ["ListProperty", "valueList"],
  ["ListRelationship", "objectList"],
]);

/** The members beside the value that NGSI-LD defines itself; every other one is a sub-attribute. */
const metadataNames: ReadonlySet<string> = new Set([
  "observedAt",
  "unitCode",
  "datasetId",
  "createdAt",
  "modifiedAt",
  "deletedAt",
  "expiresAt",
  "instanceId",
  "objectType",
  "valueType",
  "lang",
  "entity",
  "entityList",
  "previousValue",
  "previousObject",
  "previousLanguageMap",
  "previousVocab",
  "previousJson",
  "previousValueList",
  "previousObjectList",
]);

/** Whether the value is a GeoJSON geometry. */
export function isGeometry(json: Json | undefined): boolean {
  if (!isObject(json) || json.type === undefined || !geometryTypes.has(json.type)) return false;
  return isArray(json.type === "GeometryCollection" ? json.geometries : json.coordinates);
}

const geometryTypes: ReadonlySet<Json> = new Set([
  "Point",
  "MultiPoint",
  "LineString",
  "MultiLineString",
  "Polygon",
  "MultiPolygon",
  "GeometryCollection",
]);
