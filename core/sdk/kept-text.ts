import type { Event } from "./event.js";

/**
 * The text that the body of an event was read from. A durable channel keeps it in place of JSON made of the body, and has
 * the body read from it again after a restart.
 * @beta
 */
export interface KeptText {
  /** Name of the {@link TextCodec} that reads it. */
  readonly codec: string;
  /** What the codec needs to know besides the text: JSON on one line. */
  readonly options: string;
  /** It holds this body and no other. */
  readonly text: string;
}

/** Reads kept texts. Later versions of it must read what earlier ones kept. @beta */
export interface TextCodec {
  readonly name: string;
  /** What is equal to the body that the text was kept for. */
  decode(text: string, options: string): unknown;
}

/** Codecs by their names. @beta */
export type TextCodecs = ReadonlyMap<string, TextCodec>;

/** Whether a channel of this process keeps texts. */
let areKept = false;

/** By their names; of none where none are given. Once a channel has asked for some, texts are kept in this process. @beta */
export function textCodecs(codecs: readonly TextCodec[] = []): TextCodecs {
  areKept ||= codecs.length > 0;
  return new Map(codecs.map((codec) => [codec.name, codec]));
}

/** By the body itself: another body, such as one that an interceptor made, has no text. */
const texts = new WeakMap<object, KeptText>();

/** Whether {@link keepText} does anything. @beta */
export function areTextsKept(): boolean {
  return areKept;
}

/**
 * Notes the text that the body of an event was read from, until the event is in its channels; nothing while no channel keeps
 * texts. Bodies are never changed after that; an event with other headers and the same body keeps it.
 * @beta
 */
export function keepText(body: object, text: KeptText): void {
  if (areKept) texts.set(body, text);
}

/** The text that was kept for this very body. @beta */
export function keptTextOf(body: unknown): KeptText | undefined {
  return typeof body === "object" && body !== null ? texts.get(body) : undefined;
}

/** The text that was kept for the body of the event, where one of these codecs reads it again; none for what is no event. @beta */
export function keptTextFor(event: Event | null | undefined, codecs: TextCodecs): KeptText | undefined {
  const kept = codecs.size === 0 ? undefined : keptTextOf(event?.body);
  return kept !== undefined && codecs.has(kept.codec) ? kept : undefined;
}

/**
 * The body that the text was kept for. Where it can no longer be read, it is the body itself: a sink that does not know what
 * to do with it makes a dead letter, and nothing is lost.
 * @beta
 */
export function bodyOfText({ codec, options, text }: KeptText, codecs: TextCodecs): unknown {
  try {
    return codecs.get(codec)?.decode(text, options) ?? text;
  } catch {
    return text;
  }
}

/** Frees the texts of the bodies of events. */
export function forgetTexts(events: readonly Event[]): void {
  if (!areKept) return;
  for (const { body } of events) if (typeof body === "object" && body !== null) texts.delete(body);
}
