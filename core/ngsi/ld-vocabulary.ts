/** What comes before the name of an attribute type where a broker sends it in full. */
export const typePrefix = "https://uri.etsi.org/ngsi-ld/";

/** The members that hold the value of an attribute, each with the type it stands for in the concise form. */
export const inferredTypes = {
  value: "Property",
  object: "Relationship",
  languageMap: "LanguageProperty",
  vocab: "VocabProperty",
  json: "JsonProperty",
  valueList: "ListProperty",
  objectList: "ListRelationship",
} as const;

/** Name of a member that holds the value of an attribute. */
export type ValueName = keyof typeof inferredTypes;

/** {@link ValueName} as a list, for looking one up. */
export const valueNames: readonly ValueName[] = [
  "value",
  "object",
  "languageMap",
  "vocab",
  "json",
  "valueList",
  "objectList",
];

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
export const metadataNames: ReadonlySet<string> = new Set([
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
