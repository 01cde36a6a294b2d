// https://www.postgresql.org/docs/current/protocol-error-fields.html
const REPORTS: readonly (number | undefined)[] = ["E", "N"].map((letter) => letter.charCodeAt(0));
const LENGTH_BYTES = 4;
const HEADER_BYTES = 1 + LENGTH_BYTES;
/** Of an error or a notice: it may quote a value, however large. */
const MOST_OF_REPORT = 2 ** 20;
/** What a server can allocate at once. */
const MOST_OF_LONG = 0x3f_ff_ff_ff;
/** As for libpq: other messages are longer only where this is no PostgreSQL, or its messages are out of step. */
const MOST_OF_OTHERS = 30_000;
const mostBytes: ReadonlyMap<number, number> = new Map([
  ...[..."EN"].map((letter) => [letter.charCodeAt(0), Number.POSITIVE_INFINITY] as const),
  ...[..."TDdVA"].map((letter) => [letter.charCodeAt(0), MOST_OF_LONG] as const),
]);

/**
 * Adds the end that an error or a notice lacks. `pg` reads fields until there is an empty one, and without it never returns:
 * the whole process would stand still. The errors of pgagroal 2.1 have none: their last byte is beyond the length that they state.
 * Of an endless one the rest is left out, and a length that no message has is an error: `pg` would keep all that comes.
 */
export class ReportEnds {
  /** The beginning of a header or a report, as it came: a report may quote a value of megabytes. */
  #kept: Buffer[] = [];
  #keptBytes = 0;
  /** The bytes that are kept before they are looked at. */
  #wanted = HEADER_BYTES;
  /** How much of a message is still to come. */
  #open = 0;
  /** How much of it is left out. */
  #left = 0;

  /** What can be read now; the beginning of a report waits for its end. */
  added(sent: Buffer): Buffer {
    const chunk = sent.subarray(this.#left);
    this.#left -= sent.length - chunk.length;
    this.#kept.push(chunk);
    this.#keptBytes += chunk.length;
    // What belongs to an open message has been handed on, or comes with this chunk.
    if (this.#open === 0 && this.#keptBytes < this.#wanted) return NOTHING;
    let bytes = this.#kept.length === 1 ? chunk : Buffer.concat(this.#kept);
    let at = this.#open;
    this.#wanted = HEADER_BYTES;
    while (at + HEADER_BYTES <= bytes.length) {
      const isReport = REPORTS.includes(bytes[at]);
      const length = lengthAt(bytes, at);
      const read = isReport ? Math.min(length, MOST_OF_REPORT) : length;
      let end = at + 1 + read;
      if (isReport) {
        this.#wanted = end - at;
        if (end > bytes.length) break;
        [bytes, end] = this.#ended(bytes, { at, end, beyond: length - read });
      }
      this.#wanted = HEADER_BYTES;
      at = end;
    }
    this.#open = Math.max(0, at - bytes.length);
    const rest = bytes.subarray(at);
    this.#kept = rest.length === 0 ? [] : [rest];
    this.#keptBytes = rest.length;
    return bytes.subarray(0, at);
  }

  /** With a report that has its end, and nothing of what is beyond it; where it ends then. */
  #ended(bytes: Buffer, { at, end, beyond }: Report): [Buffer, number] {
    const lacking = lackingZeros(bytes.subarray(at + HEADER_BYTES, end));
    if (lacking === 0 && beyond === 0) return [bytes, end];
    this.#left = Math.max(0, end + beyond - bytes.length);
    const ended = Buffer.concat([bytes.subarray(0, end), Buffer.alloc(lacking), bytes.subarray(end + beyond)]);
    ended.writeUInt32BE(end - at - 1 + lacking, at + 1);
    return [ended, end + lacking];
  }
}

interface Report {
  readonly at: number;
  readonly end: number;
  /** The bytes of it that are left out. */
  readonly beyond: number;
}

const NOTHING = Buffer.alloc(0);

function lengthAt(bytes: Buffer, at: number): number {
  const type = bytes.readUInt8(at);
  const length = bytes.readUInt32BE(at + 1);
  if (length >= LENGTH_BYTES && length <= (mostBytes.get(type) ?? MOST_OF_OTHERS)) return length;
  throw new Error(`a message of type ${JSON.stringify(String.fromCharCode(type))} with a length of ${length} bytes`);
}

/** A zero ends each field and the last one: two end all, or one if there is no field. */
function lackingZeros(fields: Buffer): number {
  if (fields.at(-1) !== 0) return 2;
  return fields.length === 1 || fields.at(-2) === 0 ? 0 : 1;
}
