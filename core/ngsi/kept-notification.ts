import { AgentError, areTextsKept, keepText, type TextCodec } from "../sdk/index.js";
import { type DecodeOptions, decode, type NgsiVersion } from "./decode/decode.js";
import { areReadAlike, type HeaderFields, readHeadersOf, type StatedFormat } from "./headers.js";
import type { Entity, Notification } from "./model.js";

const NAME = "ngsi-1";

/** What a text is read with, besides the limits, which it has passed. */
interface KeptOptions {
  readonly version: NgsiVersion;
  readonly headers: HeaderFields;
  readonly attrs_format?: StatedFormat | undefined;
}

/** It was within the limits when it came; those of today may be others. */
const unlimited = {
  max_name_length: Number.POSITIVE_INFINITY,
  max_attributes: Number.POSITIVE_INFINITY,
  max_entities: Number.POSITIVE_INFINITY,
  max_depth: Number.POSITIVE_INFINITY,
  max_number_length: Number.POSITIVE_INFINITY,
} satisfies DecodeOptions;

/**
 * Notes the text of a notification for its entity, with what it was read with. Only where it is the only one: a text with
 * several would be kept for each of them.
 * @beta
 */
export function keepNotification({ entities }: Notification, text: string, how: KeptOptions): void {
  if (!areTextsKept()) return;
  const [entity] = entities;
  if (entity !== undefined && entities.length === 1) keepText(entity, { codec: NAME, options: optionsText(how), text });
}

/** Reads the texts of notifications of one entity. @beta */
export const notificationCodec: TextCodec = {
  name: NAME,
  decode(text, options): Entity {
    const { version, headers, attrs_format = "auto" } = readOptions(options);
    const { entities } = decode(version, text, headers, unlimitedOf[attrs_format]);
    const [entity] = entities;
    if (entity !== undefined && entities.length === 1) return entity;
    const message = `reading a notification that was kept for one entity: it holds ${entities.length}`;
    throw new AgentError("NOT_ONE_ENTITY", message, { retryable: false });
  },
};

/** One object for each, by which {@link decode} knows forms. */
const unlimitedOf = {
  auto: { ...unlimited, attrs_format: "auto" },
  normalized: { ...unlimited, attrs_format: "normalized" },
  keyValues: { ...unlimited, attrs_format: "keyValues" },
} as const satisfies Record<StatedFormat, DecodeOptions>;

/** Of the last text: those that are kept one after another have the same. */
let lastRead: { readonly text: string; readonly how: KeptOptions } | undefined;

function readOptions(text: string): KeptOptions {
  if (text === lastRead?.text) return lastRead.how;
  const how: KeptOptions = JSON.parse(text);
  lastRead = { text, how };
  return how;
}

/** Of the last notification: a broker sends the same headers with each. */
let last: { readonly how: KeptOptions; readonly text: string } | undefined;

function optionsText(how: KeptOptions): string {
  if (last !== undefined && isAlike(how, last.how)) return last.text;
  const { version, attrs_format } = how;
  const headers = readHeadersOf(how.headers);
  last = { how: { version, headers, attrs_format }, text: JSON.stringify({ version, headers, attrs_format }) };
  return last.text;
}

function isAlike(one: KeptOptions, other: KeptOptions): boolean {
  return (
    one.version === other.version && one.attrs_format === other.attrs_format && areReadAlike(one.headers, other.headers)
  );
}
