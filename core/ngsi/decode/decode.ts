import { KnownForms } from "../forms/known-forms.js";
import { attrsFormatOf, type HeaderFields, ldFormatOf, type StatedFormat } from "../headers.js";
import { checkLimits, type NotificationLimits } from "../limits.js";
import type { Notification } from "../model.js";
import { isSpelledOtherwise, parseJson } from "../values/json.js";
import { refuseLd, refuseLdAndV2, refuseV2, versionOf } from "./body.js";
import { decodeLd } from "./ld.js";
import { decodeV1 } from "./v1.js";
import { decodeV2 } from "./v2.js";

/** The APIs a notification can come by; with `auto` its body decides. @stable */
export const ngsiVersions = ["ld", "v2", "v1", "auto"] as const;

/** The name of an API, or `auto`. @stable */
export type NgsiVersion = (typeof ngsiVersions)[number];

/** What bounds a notification, and how it is read where neither its body nor its headers tell. @stable */
export interface DecodeOptions extends NotificationLimits {
  /** How attributes are written where no header says it; absent, or `auto`: told from each attribute. */
  readonly attrs_format?: StatedFormat;
}

/**
 * Reads the body of a notification of that API. The headers say how attributes are written and, with `auto`, help to
 * tell the API of a body that may be of either. Throws what the decoders throw, code `NOT_A_NOTIFICATION` for a body of
 * another API than the given one, and codes `LIMIT_EXCEEDED` and `CONTENT_TOO_LARGE` for a notification
 * that holds more than the limits allow. With the same object of options each time, notifications that differ from an earlier one in texts and
 * numbers only are read in a third of the time. Parts that are the same in all of them are one frozen object.
 * @stable
 */
export function decode(
  version: NgsiVersion,
  text: string,
  headers: HeaderFields,
  options?: DecodeOptions,
): Notification {
  const forms = formsFor(options);
  const known = forms.read(text, version, headers);
  if (known !== undefined) return known;
  const notification = decodeUnknownForm(version, text, headers, options);
  forms.missed(text, { version, headers, read: (one) => decodeUnknownForm(version, one, headers, options) });
  return notification;
}

/** By the options that a notification is read with: what they allow is part of what is known of a form. */
const forms = new WeakMap<DecodeOptions, KnownForms>();
const formsWithoutOptions = new KnownForms(Number.POSITIVE_INFINITY);

function formsFor(options: DecodeOptions | undefined): KnownForms {
  if (options === undefined) return formsWithoutOptions;
  const known = forms.get(options);
  if (known !== undefined) return known;
  const own = new KnownForms(options.max_name_length);
  forms.set(options, own);
  return own;
}

/** {@link decode} without what is known of the form of the notification. */
function decodeUnknownForm(
  version: NgsiVersion,
  text: string,
  headers: HeaderFields,
  options?: DecodeOptions,
): Notification {
  const notification = decoders[version](text, headers, options);
  if (options !== undefined) checkLimits(notification, options);
  return notification;
}

type Decoder = (text: string, headers: HeaderFields, options: DecodeOptions | undefined) => Notification;

const decoders = {
  ld: (text, headers, options) => {
    const root = parseJson(text, "precise", options);
    refuseV2(root, headers);
    return decodeLd(root, ldFormatOf(headers, options?.attrs_format));
  },
  v2: (text, headers, options) => {
    const root = parseJson(text, "sent", options);
    refuseLd(root, headers);
    return decodeV2(root, attrsFormatOf(headers, options?.attrs_format));
  },
  v1: (text, headers, options) => {
    const root = parseJson(text, "sent", options);
    refuseLdAndV2(root, headers);
    return decodeV1(root);
  },
  auto: decodeAuto,
} satisfies Record<NgsiVersion, Decoder>;

function decodeAuto(text: string, headers: HeaderFields, options: DecodeOptions | undefined): Notification {
  let root = parseJson(text, "precise", options);
  const version = versionOf(root, headers);
  if (version === "ld") return decodeLd(root, ldFormatOf(headers, options?.attrs_format));
  if (isSpelledOtherwise(text)) {
    // The first one is free while the second one is made: each may take twenty times the bytes of the text.
    root = null;
    root = parseJson(text, "sent", options);
  }
  return version === "v1" ? decodeV1(root) : decodeV2(root, attrsFormatOf(headers, options?.attrs_format));
}
