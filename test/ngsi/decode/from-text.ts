import { decodeLd } from "../../../core/ngsi/decode/ld.js";
import { decodeV1 } from "../../../core/ngsi/decode/v1.js";
import { decodeV2 } from "../../../core/ngsi/decode/v2.js";
import type { AttributeFormat, AttrsFormat } from "../../../core/ngsi/headers.js";
import type { Notification } from "../../../core/ngsi/index.js";
import { parseJson } from "../../../core/ngsi/values/json.js";

export function ldOf(text: string, format?: AttributeFormat): Notification {
  return decodeLd(parseJson(text), format);
}

export function v2Of(text: string, format?: AttrsFormat): Notification {
  return decodeV2(parseJson(text, "sent"), format);
}

export function v1Of(text: string): Notification {
  return decodeV1(parseJson(text, "sent"));
}
