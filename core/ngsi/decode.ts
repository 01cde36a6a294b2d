import { readLd } from "./decode-ld.js";
import { readV1 } from "./decode-v1.js";
import { readV2 } from "./decode-v2.js";
import { holdsExactNumber } from "./exact-number.js";
import { attrsFormatOf, formatHintOf, type HeaderFields } from "./headers.js";
import { parseJson } from "./json.js";
import { checkLimits, type NotificationLimits } from "./limits.js";
import type { Notification } from "./model.js";
import { versionOf } from "./version.js";

/** The APIs a notification can come by; with `auto` its body decides. */
export const ngsiVersions = ["ld", "v2", "v1", "auto"] as const;

/** The name of an API, or `auto`. */
export type NgsiVersion = (typeof ngsiVersions)[number];

/**
 * Reads the body of a notification of that API. The headers say how attributes are written and, with `auto`, help to
 * tell the API of a body that may be of either. Throws what the decoders throw, and codes `LIMIT_EXCEEDED` and
 * `CONTENT_TOO_LARGE` for a notification that holds more than the limits allow.
 */
export function decode(
  version: NgsiVersion,
  text: string,
  headers: HeaderFields,
  limits?: NotificationLimits,
): Notification {
  const notification = decoders[version](text, headers, limits);
  if (limits !== undefined) checkLimits(notification, limits);
  return notification;
}

type Decoder = (text: string, headers: HeaderFields, limits: NotificationLimits | undefined) => Notification;

const decoders = {
  ld: (text, headers, limits) => readLd(parseJson(text, "precise", limits), formatHintOf(headers)),
  v2: (text, headers, limits) => readV2(parseJson(text, "sent", limits), attrsFormatOf(headers)),
  v1: (text, _headers, limits) => readV1(parseJson(text, "sent", limits)),
  auto: decodeAuto,
} satisfies Record<NgsiVersion, Decoder>;

function decodeAuto(text: string, headers: HeaderFields, limits: NotificationLimits | undefined): Notification {
  const root = parseJson(text, "precise", limits);
  const version = versionOf(root, headers);
  if (version === "ld") return readLd(root, formatHintOf(headers));
  const sent = holdsExactNumber(text, "sent") ? parseJson(text, "sent", limits) : root;
  return version === "v1" ? readV1(sent) : readV2(sent, attrsFormatOf(headers));
}
