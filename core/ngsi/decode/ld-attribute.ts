import type { AttributeFormat } from "../headers.js";
import type { Attribute, Member } from "../model.js";
import { isArray, isObject, type Json, type JsonObject, toValue } from "../values/json.js";

/**
 * One attribute of an NGSI-LD entity: normalized when its type is one of NGSI-LD, concise when it has a value member
 * and no type, else simplified, which means that it is the value itself. The format decides whether an object that may
 * be either is concise; without it, a member that NGSI-LD does not know makes it a value. A list of such attributes is
 * one attribute with several instances.
 */
export function decodeLdAttribute(name: string, json: Json, format: AttributeFormat | undefined): Attribute {
  return usualAttribute(name, json) ?? anyAttribute(name, json, format);
}

/** One with a type of NGSI-LD in its short form and a value: nearly all of them, so that nothing is made but the attribute. */
function usualAttribute(name: string, json: Json): Attribute | undefined {
  if (!isObject(json) || typeof json.type !== "string") return undefined;
  const valueName = valueMembers.get(json.type);
  const value = valueName === undefined ? undefined : json[valueName];
  if (value === undefined) return undefined;
  return { name, type: json.type, form: "normalized", value: toValue(value), members: membersOf(json, valueName) };
}

function anyAttribute(name: string, json: Json, format: AttributeFormat | undefined): Attribute {
  const shape = attributeShape(json, format);
  if (shape !== undefined) return attributeOf(name, shape);
  const instances = isArray(json) ? instancesIn(json, format) : [];
  const chosen = chosenOf(instances);
  if (chosen === undefined) return simplifiedAttribute(name, json, format);
  const others = instances.filter((one) => one !== chosen).map((one) => attributeOf(name, one));
  return others.length === 0 ? attributeOf(name, chosen) : { ...attributeOf(name, chosen), others };
}

function simplifiedAttribute(name: string, json: Json, format: AttributeFormat | undefined): Attribute {
  const form = isOfEntity(name) ? "plain" : format === "keyValues" ? "normalized" : "simplified";
  const [chosen, ...others] = simplifiedInstances(json).map(([datasetId, value]): Attribute => {
    const members = datasetId === DEFAULT_INSTANCE ? none : [{ name: "datasetId", value: toValue(datasetId) }];
    return { name, form, value: toValue(value), members };
  });
  if (chosen === undefined) return { name, form, value: toValue(json), members: none };
  return others.length === 0 ? chosen : { ...chosen, others };
}

/** Stands for the datasetId of the instance that has none; it comes before every URI in the alphabet. */
export const DEFAULT_INSTANCE = "@none";
const URI = /^[a-z][a-z0-9+.-]*:\S+$/i;

/**
 * The instances of a simplified attribute, `{"dataset": {"@none": 1, "urn:gps": 2}}`, as datasetId and value, the one whose
 * datasetId comes first before the others. None for any other value.
 */
function simplifiedInstances(json: Json): readonly (readonly [string, Json])[] {
  if (!isObject(json) || !isObject(json.dataset) || Object.keys(json).length !== 1) return [];
  const instances = Object.entries(json.dataset);
  const [first, ...rest] = instances;
  if (first === undefined || !instances.every(([id]) => id === DEFAULT_INSTANCE || URI.test(id))) return [];
  const chosen = rest.reduce((best, one) => (one[0] < best[0] ? one : best), first);
  return [chosen, ...instances.filter((one) => one !== chosen)];
}

function attributeShape(json: Json, format: AttributeFormat | undefined): Shape | undefined {
  const shape = shapeOf(json);
  return shape === undefined || (shape.form === "concise" && !isConcise(shape, format)) ? undefined : shape;
}

function attributeOf(name: string, shape: Shape): Attribute {
  const { json, type, valueName } = shape;
  return { name, type, form: "normalized", value: toValue(valueIn(shape)), members: membersOf(json, valueName) };
}

/**
 * The instances in a list. Without a datasetId in it a list is a value of the simplified form, in which any object may
 * stand, except for one that holds a single attribute.
 */
function instancesIn(list: readonly Json[], format: AttributeFormat | undefined): readonly Shape[] {
  const shapes: Shape[] = [];
  for (const json of list) {
    const shape = attributeShape(json, format);
    if (shape === undefined) return [];
    shapes.push(shape);
  }
  const isOne = shapes.length === 1 && shapes[0]?.form === "normalized";
  return isOne || shapes.some((shape) => datasetOf(shape) !== undefined) ? shapes : [];
}

/** The default instance, or without such the one whose datasetId comes first: it does not depend on the order. */
function chosenOf(instances: readonly Shape[]): Shape | undefined {
  const [first, ...rest] = instances;
  if (first === undefined) return undefined;
  return rest.reduce((best, one) => ((datasetOf(one) ?? "") < (datasetOf(best) ?? "") ? one : best), first);
}

function datasetOf({ json: { datasetId } }: Shape): string | undefined {
  return typeof datasetId === "string" ? datasetId : undefined;
}

/** Whether NGSI-LD itself defines the member of an entity. */
function isOfEntity(name: string): boolean {
  return membersOfEntities.has(name.startsWith(typePrefix) ? name.slice(typePrefix.length) : name);
}

const membersOfEntities: ReadonlySet<string> = new Set(["createdAt", "modifiedAt", "deletedAt", "expiresAt", "scope"]);

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
  // Nearly every type is sent as its short name, and no short name begins with the prefix.
  const known = valueMembers.get(sentType);
  const type = known === undefined && sentType.startsWith(typePrefix) ? sentType.slice(typePrefix.length) : sentType;
  const ownName = known ?? valueMembers.get(type);
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
  for (const name of valueNames) if (name in json) return name;
  return undefined;
}

function isConcise(shape: Shape, format: AttributeFormat | undefined): boolean {
  if (format !== undefined) return format !== "simplified" && format !== "keyValues";
  const { json, valueName } = shape;
  for (const name in json) {
    if (name === "type" || name === valueName || metadataNames.has(name)) continue;
    const member = json[name];
    if (!isObject(member) || valueNameIn(member) === undefined) return false;
  }
  return true;
}

function membersOf(json: JsonObject, valueName: ValueName | undefined): readonly Member[] {
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

function decodeMember(name: string, json: Json): Member {
  const shape = shapeOf(json);
  if (shape === undefined) return { name, value: toValue(json) };
  const members = membersOf(shape.json, shape.valueName);
  const value = toValue(valueIn(shape));
  return members.length === 0 ? { name, type: shape.type, value } : { name, type: shape.type, value, members };
}

function valueIn({ json, valueName }: Shape): Json {
  return valueName === undefined ? null : (json[valueName] ?? null);
}

/** What comes before a name of NGSI-LD where a broker sends it in full. */
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
