// https://www.postgresql.org/docs/current/protocol-error-fields.html
const REPORTS: readonly (number | undefined)[] = ["E", "N"].map((letter) => letter.charCodeAt(0));
const LENGTH_BYTES = 4;
const HEADER_BYTES = 1 + LENGTH_BYTES;

/**
 * Adds the end that an error or a notice lacks. `pg` reads fields until there is an empty one, and without it never returns:
 * the whole process would stand still. The errors of pgagroal 2.1 have none: their last byte is beyond the length that they state.
 */
export class ReportEnds {
  /** The beginning of a header or a report, as it came: a report may quote a value of megabytes. */
  #kept: Buffer[] = [];
  #keptBytes = 0;
  /** The bytes that are kept before they are looked at. */
  #wanted = HEADER_BYTES;
  /** How much of a message is still to come. */
  #open = 0;

  /** What can be read now; the beginning of a report waits for its end. */
  added(chunk: Buffer): Buffer {
    this.#kept.push(chunk);
    this.#keptBytes += chunk.length;
    // What belongs to an open message has been handed on, or comes with this chunk.
    if (this.#open === 0 && this.#keptBytes < this.#wanted) return NOTHING;
    let bytes = this.#kept.length === 1 ? chunk : Buffer.concat(this.#kept);
    let at = this.#open;
    this.#wanted = HEADER_BYTES;
    while (at + HEADER_BYTES <= bytes.length) {
      const isReport = REPORTS.includes(bytes[at]);
      const length = Math.max(isReport ? LENGTH_BYTES : 0, bytes.readUInt32BE(at + 1));
      let end = at + 1 + length;
      if (isReport) {
        this.#wanted = end - at;
        if (end > bytes.length) break;
        const lacking = lackingZeros(bytes.subarray(at + HEADER_BYTES, end));
        if (lacking > 0) {
          bytes = Buffer.concat([bytes.subarray(0, end), Buffer.alloc(lacking), bytes.subarray(end)]);
          bytes.writeUInt32BE(length + lacking, at + 1);
          end += lacking;
        }
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
}

const NOTHING = Buffer.alloc(0);

/** A zero ends each field and the last one: two end all, or one if there is no field. */
function lackingZeros(fields: Buffer): number {
  if (fields.at(-1) !== 0) return 2;
  return fields.length === 1 || fields.at(-2) === 0 ? 0 : 1;
}
