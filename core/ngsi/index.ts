/** The domain of Deneb, `deneb/ngsi`: pure functions over notifications, names and values. */
export { type DataModel, dataModels, parseDataModel } from "./data-models.js";
export { decodeLd } from "./decode-ld.js";
export { encodeName, type Kept, lowerCase, replaceOdd } from "./encoding.js";
export { ExactNumber } from "./exact-number.js";
export {
  type AttributeFormat,
  correlatorOf,
  eventHeaders,
  formatHintOf,
  type HeaderFields,
  linkOf,
  serviceOf,
} from "./headers.js";
export { type Json, type JsonObject, parseJson, toValue } from "./json.js";
export { mappedEvent, withMappedNames } from "./mapped-event.js";
export { addMappings, type MappingEdit, removeMappings, updateMappings } from "./mapping-edits.js";
export { type MappingNode, mappingsJson } from "./mapping-tree.js";
export {
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
export { columnName, type Naming, schemaName, shorten, tableName } from "./naming.js";
export { TextPattern } from "./text-pattern.js";
export { attributeText, isoTime, memberText } from "./values.js";
