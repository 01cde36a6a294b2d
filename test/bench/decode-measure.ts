import type { decode } from "../../core/ngsi/index.js";
import type { DecodeForm } from "./decode-forms.js";

export type Decode = typeof decode;

export interface DecodeMeasuring {
  readonly rounds: number;
  /** CPU milliseconds of each form in each round. */
  readonly slice: number;
  readonly decoders: readonly Decode[];
}

/** Microseconds of CPU for one body, one figure for each round. */
export type Times = readonly number[];

export interface MeasuredForm {
  readonly form: DecodeForm;
  readonly parse: Times;
  /** In the order of the decoders. */
  readonly decode: readonly Times[];
}

/** Measures JSON.parse and each decoder in turn with each form, and so on for each round. */
export function measureForms(
  forms: readonly DecodeForm[],
  { rounds, slice, decoders }: DecodeMeasuring,
): readonly MeasuredForm[] {
  const subjects = forms.map((form) => ({
    form,
    parse: new Subject(form, (text) => JSON.parse(text)),
    decode: decoders.map((decode) => new Subject(form, decoding(decode, form))),
  }));
  for (let round = -WARMING; round < rounds; round += 1) {
    for (const { parse, decode } of subjects) {
      for (const subject of [parse, ...decode]) subject.measure(slice, round >= 0);
    }
  }
  return subjects.map(({ form, parse, decode }) => ({
    form,
    parse: parse.times,
    decode: decode.map(({ times }) => times),
  }));
}

/** Rounds in which the code is compiled. */
const WARMING = 2;

/** Those of the handler. */
const limits = {
  max_depth: 512,
  max_number_length: 1000,
  max_name_length: 2048,
  max_attributes: 10_000,
  max_entities: 50_000,
};

function decoding(decode: Decode, { version, headers }: DecodeForm): (text: string) => unknown {
  return (text) => decode(version, text, headers, limits);
}

class Subject {
  readonly times: number[] = [];
  readonly #texts: readonly string[];
  readonly #work: (text: string) => unknown;

  constructor({ bodies }: DecodeForm, work: (text: string) => unknown) {
    // Texts in one piece, as they are when they come of bytes.
    this.#texts = bodies.map((body) => Buffer.from(body).toString());
    this.#work = work;
  }

  measure(milliseconds: number, counts: boolean): void {
    const start = process.cpuUsage();
    let spent = 0;
    let bodies = 0;
    while (spent < milliseconds * 1000) {
      for (const text of this.#texts) this.#work(text);
      bodies += this.#texts.length;
      const { user, system } = process.cpuUsage(start);
      spent = user + system;
    }
    if (counts) this.times.push(spent / bodies);
  }
}
