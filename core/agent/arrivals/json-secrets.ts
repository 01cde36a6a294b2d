import { isSecretWord } from "./secret-names.js";

/** A part of a text, from and up to these characters. */
type Span = readonly [from: number, to: number];

/** One object or list that is open. */
interface Frame {
  readonly isObject: boolean;
  /** Where it begins. */
  readonly from: number;
  /** Of the member that is being read. */
  key: string | undefined;
  /** A key stands before, and its colon. */
  isAtValue: boolean;
  /** It has a member `name` that is the name of a secret. */
  isNamedSecret: boolean;
  value: Span | undefined;
}

const TOKEN = /"(?:[^"\\]|\\.)*"?|[{}[\],:]|[^\s"{}[\],:]+/gs;

/**
 * The text with the values of secret members as `"***"`; all else stays as it was sent. A member is secret by its key, or by
 * the `name` beside it, as attributes of NGSI v1 are written. The text may be cut or broken: what is open at its end counts up
 * to there.
 */
export function withoutSecretMembers(text: string): string {
  const reader = new Reader();
  for (const match of text.matchAll(TOKEN)) reader.token(match[0], match.index);
  return withoutSpans(text, reader.end(text.length));
}

class Reader {
  readonly #frames: Frame[] = [];
  readonly #spans: Span[] = [];

  token(token: string, at: number): void {
    const frame = this.#frames.at(-1);
    if (token === "{" || token === "[") this.#open(token === "{", at);
    else if (token === "}" || token === "]") this.#close(at + 1);
    else if (frame === undefined || !frame.isObject) return;
    else if (token === ":") frame.isAtValue = frame.key !== undefined;
    else if (token === ",") this.#next(frame);
    else if (frame.isAtValue) this.#member(frame, [at, at + token.length], token);
    else frame.key = unquoted(token);
  }

  /** The parts that are secrets, in the order of the text. */
  end(length: number): readonly Span[] {
    while (this.#frames.length > 0) this.#close(length);
    return this.#spans.toSorted(([one], [other]) => one - other);
  }

  #open(isObject: boolean, from: number): void {
    this.#frames.push({ isObject, from, key: undefined, isAtValue: false, isNamedSecret: false, value: undefined });
  }

  #close(to: number): void {
    const closed = this.#frames.pop();
    if (closed === undefined) return;
    if (closed.isNamedSecret && closed.value !== undefined) this.#spans.push(closed.value);
    const owner = this.#frames.at(-1);
    if (owner?.isAtValue === true) this.#member(owner, [closed.from, to], undefined);
  }

  #next(frame: Frame): void {
    frame.key = undefined;
    frame.isAtValue = false;
  }

  /** A member has ended; its token is undefined when it is an object or a list. */
  #member(frame: Frame, span: Span, token: string | undefined): void {
    const { key = "" } = frame;
    if (isSecretWord(key)) this.#spans.push(span);
    if (key === "value") frame.value = span;
    if (key === "name" && token !== undefined && isSecretWord(unquoted(token))) frame.isNamedSecret = true;
    this.#next(frame);
  }
}

function unquoted(token: string): string {
  if (!token.startsWith('"')) return token;
  try {
    return String(JSON.parse(token));
  } catch {
    return token.slice(1);
  }
}

function withoutSpans(text: string, spans: readonly Span[]): string {
  let shown = "";
  let at = 0;
  for (const [from, to] of spans) {
    // One within another one.
    if (from < at) {
      at = Math.max(at, to);
      continue;
    }
    shown += `${text.slice(at, from)}"***"`;
    at = to;
  }
  return shown + text.slice(at);
}
