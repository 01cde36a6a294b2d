import { deviceOf } from "./device.js";
import { type BodyFormat, forms } from "./forms.js";

/** What the bodies of a load look like that the harness makes. */
export interface BodyShape {
  readonly format: BodyFormat;
  /** Distinct entities of all bodies together. */
  readonly entities: number;
  /** Entities of each body; absent: what the form has, mostly one. */
  readonly perNotification?: number;
  /** Services that the bodies are of in turn; absent: one. */
  readonly services?: number;
  /** Length of each body, reached with one long text attribute; absent: about 1,000 bytes an entity. */
  readonly bytes?: number;
}

/** The bodies of a load, each entity in one of them: the devices of `deviceOf` in one form. */
export function notificationBodies(shape: BodyShape): readonly string[] {
  const { format, entities, bytes } = shape;
  const { entity, envelope, text } = forms[format];
  const perNotification = entitiesOfEach(shape);
  return Array.from({ length: Math.ceil(entities / perNotification) }, (_, body) => {
    const first = body * perNotification;
    const length = Math.min(perNotification, entities - first);
    const data = Array.from({ length }, (_, at) => entity(deviceOf(first + at)));
    const plain = text({ ...envelope, data });
    return bytes === undefined ? plain : padded(plain, bytes, forms[format].api);
  });
}

/** Entities of each body; the last one may have fewer. */
export function entitiesOfEach({ format, perNotification }: BodyShape): number {
  return perNotification ?? forms[format].perNotification;
}

/** Attributes of each entity, which are its rows in the row layout. */
export function attributesOf(): number {
  return deviceOf(0).attributes.length;
}

/** The body with one more attribute of its last entity, so that it has the wanted length. */
function padded(body: string, bytes: number, api: "ld" | "v2"): string {
  const type = api === "ld" ? "Property" : "Text";
  const attribute = (text: string) => `,"payload":{"type":"${type}","value":"${text}"}`;
  const missing = bytes - Buffer.byteLength(body) - attribute("").length;
  return missing < 0 ? body : body.replace(/\}\]\}$/, `${attribute("x".repeat(missing))}}]}`);
}
