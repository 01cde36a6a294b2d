/** Collects headers; of a repeated one the first value counts. */
export class FirstHeaders {
  /** A plain object, because one without prototype is slow to create: names that it inherits are left out. */
  readonly all: Record<string, string> = {};

  /** The name in lower case. False when the header is present already, or has a name that is left out. */
  add(name: string, value: string): boolean {
    if (this.all[name] !== undefined) return false;
    this.all[name] = value;
    return true;
  }
}

/** The headers of a request from Node's list of names and values; Node itself would join the values of most repeated ones. */
export function firstHeaders(raw: readonly string[]): Readonly<Record<string, string>> {
  const headers = new FirstHeaders();
  for (let index = 0; index + 1 < raw.length; index += 2)
    headers.add(lowerCase(raw[index] ?? ""), raw[index + 1] ?? "");
  return headers.all;
}

const MOST_REMEMBERED = 500;
/** The lower-case form of names. Senders use the same few names in every request. */
const lowerCases = new Map<string, string>();

function lowerCase(name: string): string {
  const known = lowerCases.get(name);
  if (known !== undefined) return known;
  const lower = name.toLowerCase();
  if (lowerCases.size < MOST_REMEMBERED) lowerCases.set(detached(name), detached(lower));
  return lower;
}

/** The same text with memory of its own: V8 keeps a part of a text as a reference to the whole, here to a whole head. */
export function detached(text: string): string {
  return ` ${text}`.slice(1);
}

/** A header as it was sent. */
export interface Field {
  /** In lower case. */
  readonly name: string;
  readonly value: string;
}

const MOST_LINES_OF_A_NAME = 100;
const MOST_KNOWN_FIELDS = 2000;
const LONGEST_KNOWN_LINE = 256;
/** Headers whose values are not kept longer than their request. */
export const secretHeaders: ReadonlySet<string> = new Set(["authorization", "x-auth-token", "cookie"]);

/**
 * The fields of header lines that were read before: senders repeat most of their lines in every request. A name with many
 * different lines, such as a correlator, gets no more of them: noting one that never repeats takes longer than reading it.
 */
export class KnownFields {
  readonly #fields = new Map<string, Field>();
  readonly #lines = new Map<string, number>();

  get(line: string): Field | undefined {
    return this.#fields.get(line);
  }

  /** Returns the field. */
  noted(line: string, field: Field): Field {
    const lines = this.#lines.get(field.name) ?? 0;
    if (lines >= MOST_LINES_OF_A_NAME || this.#fields.size >= MOST_KNOWN_FIELDS) return field;
    if (line.length > LONGEST_KNOWN_LINE || secretHeaders.has(field.name)) return field;
    this.#lines.set(field.name, lines + 1);
    this.#fields.set(detached(line), field);
    return field;
  }
}
