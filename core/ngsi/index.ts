/** The domain of Deneb, `deneb/ngsi`: pure functions over notifications, names and values. */
export { type ColumnNaming, columnKey, columnName } from "./column-name.js";
export { type DataModel, dataModels, parseDataModel, refusedModel } from "./data-models.js";
export { decode, type NgsiVersion, ngsiVersions } from "./decode.js";
export { decodeLd } from "./decode-ld.js";
export { decodeV1 } from "./decode-v1.js";
export { decodeV2 } from "./decode-v2.js";
export { encodeName, type Kept, type KeptLetters, lowerCase, replaceOdd } from "./encoding.js";
export { attributeJson, entityJson, entityValuesJson } from "./entity-json.js";
export { ExactNumber } from "./exact-number.js";
export {
  type AttributeFormat,
  type AttrsFormat,
  attrsFormatOf,
  correlatorOf,
  eventHeaders,
  formatHintOf,
  type HeaderFields,
  linkOf,
  serviceOf,
  servicePathsOf,
} from "./headers.js";
export { type Json, type JsonObject, parseJson, toValue } from "./json.js";
export type { NotificationLimits } from "./limits.js";
export { mappedEvent, withMappedNames } from "./mapped-event.js";
export { addMappings, type MappingEdit, removeMappings, updateMappings } from "./mapping-edits.js";
export { type MappingNode, mappingsJson } from "./mapping-tree.js";
export { metadataText } from "./metadata.js";
export {
  type Api,
  type Attribute,
  type Entity,
  isEntity,
  type Member,
  type Notification,
  type Value,
  type ValueKind,
} from "./model.js";
export { type CompiledMappings, compileNameMappings, type NameMappings, type Names } from "./name-mappings.js";
export {
  type NameMappingsFile,
  nameMappingsText,
  readMappingsDocument,
  readNameMappingsFile,
} from "./name-mappings-file.js";
export {
  type Address,
  type Database,
  databaseName,
  hasOwnDatabase,
  type Naming,
  schemaName,
  type TablePlace,
  tableName,
} from "./naming.js";
export { type NameLimit, nameLimits, shorten } from "./shorten.js";
export { TextPattern } from "./text-pattern.js";
export { attributeText, isoTime, memberText } from "./values.js";
