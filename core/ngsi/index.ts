/** The domain of Deneb, `deneb/ngsi`: pure functions over notifications, names and values. */
export { eventHeaders } from "./headers.js";
export type { Attribute, Entity, Member, Notification, Value, ValueKind } from "./model.js";
