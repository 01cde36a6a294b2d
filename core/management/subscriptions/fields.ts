import { malformedJson } from "../refused-call.js";

/**
 * The members of a JSON object, `null` read as absent. A member of the wrong kind is malformed JSON; numbers and
 * booleans count as texts.
 */
export class Fields {
  readonly #members: object;

  constructor(members: object) {
    this.#members = members;
  }

  /** Throws when the value is not an object. */
  static of(value: unknown): Fields {
    if (typeof value !== "object" || value === null || Array.isArray(value)) throw malformedJson();
    return new Fields(value);
  }

  get isEmpty(): boolean {
    return Object.keys(this.#members).length === 0;
  }

  has(name: string): boolean {
    return this.value(name) !== undefined;
  }

  value(name: string): unknown {
    return Object.hasOwn(this.#members, name) ? (Reflect.get(this.#members, name) ?? undefined) : undefined;
  }

  text(name: string): string | undefined {
    const value = this.value(name);
    if (value === undefined || typeof value === "string") return value;
    if (typeof value === "number" || typeof value === "boolean") return String(value);
    throw malformedJson();
  }

  object(name: string): Fields | undefined {
    const value = this.value(name);
    return value === undefined ? undefined : Fields.of(value);
  }

  list(name: string): readonly unknown[] | undefined {
    const value = this.value(name);
    if (value === undefined || Array.isArray(value)) return value;
    throw malformedJson();
  }

  objects(name: string): readonly Fields[] | undefined {
    return this.list(name)?.map((value) => Fields.of(value));
  }
}
