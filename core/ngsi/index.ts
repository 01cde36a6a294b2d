/** The domain of Deneb, `deneb/ngsi`: pure functions over notifications, names and values. */

export { type DecodeOptions, decode, type NgsiVersion, ngsiVersions } from "./decode/decode.js";
export {
  correlatorOf,
  eventHeaders,
  type HeaderFields,
  linkOf,
  type StatedFormat,
  serviceOf,
  servicePathsOf,
  statedFormats,
} from "./headers.js";
export { keepNotification, notificationCodec } from "./kept-notification.js";
export type { NotificationLimits } from "./limits.js";
export { readNameMappingsFile } from "./mappings/document.js";
export { compileNameMappings, mappedEvent, type NameMappings, withMappedNames } from "./mappings/name-mappings.js";
export { TextPattern } from "./mappings/patterns.js";
export {
  type Api,
  type Attribute,
  type Entity,
  type EntityEvent,
  entityOf,
  isEntity,
  isEntityEvent,
  type Member,
  type Notification,
  type Value,
  type ValueKind,
} from "./model.js";
export { type ColumnNaming, columnKey, columnName } from "./names/column-name.js";
export { lowerCase, nameLimits, shorten, withServiceHash } from "./names/encoding.js";
export {
  type Address,
  type Database,
  type DataModel,
  dataModels,
  hasOwnDatabase,
  type Naming,
  parseDataModel,
  refusedModel,
} from "./names/naming.js";
export { withShortNames } from "./names/short-names.js";
export { databaseName, schemaName, tableName } from "./names/table-name.js";
export {
  attributeJson,
  attributeText,
  DELETED_VALUE,
  entityJson,
  entityValuesJson,
  isoTime,
  memberText,
  othersJson,
  subMembersJson,
} from "./values/entity-text.js";
export { ExactNumber } from "./values/exact-number.js";
export { type GeometryX, geometryText, isGeometryAttribute } from "./values/geometry.js";
export { type Json, parseJson, propertyOf, toValue } from "./values/json.js";
export { metadataText } from "./values/metadata-text.js";
