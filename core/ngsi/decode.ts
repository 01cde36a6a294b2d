import { decodeLd, readLd } from "./decode-ld.js";
import { decodeV1, readV1 } from "./decode-v1.js";
import { decodeV2, readV2 } from "./decode-v2.js";
import { holdsExactNumber } from "./exact-number.js";
import { attrsFormatOf, formatHintOf, type HeaderFields } from "./headers.js";
import { parseJson } from "./json.js";
import type { Notification } from "./model.js";
import { versionOf } from "./version.js";

/** The APIs a notification can come by; with `auto` its body decides. */
export const ngsiVersions = ["ld", "v2", "v1", "auto"] as const;

/** The name of an API, or `auto`. */
export type NgsiVersion = (typeof ngsiVersions)[number];

/**
 * Reads the body of a notification of that API. The headers say how attributes are written and, with `auto`, help to
 * tell the API of a body that may be of either. Throws what the decoders throw.
 */
export function decode(version: NgsiVersion, text: string, headers: HeaderFields): Notification {
  return decoders[version](text, headers);
}

type Decoder = (text: string, headers: HeaderFields) => Notification;

const decoders = {
  ld: (text, headers) => decodeLd(text, formatHintOf(headers)),
  v2: (text, headers) => decodeV2(text, attrsFormatOf(headers)),
  v1: (text) => decodeV1(text),
  auto: decodeAuto,
} satisfies Record<NgsiVersion, Decoder>;

function decodeAuto(text: string, headers: HeaderFields): Notification {
  const root = parseJson(text);
  const version = versionOf(root, headers);
  if (version === "ld") return readLd(root, formatHintOf(headers));
  const sent = holdsExactNumber(text, "sent") ? parseJson(text, "sent") : root;
  return version === "v1" ? readV1(sent) : readV2(sent, attrsFormatOf(headers));
}
