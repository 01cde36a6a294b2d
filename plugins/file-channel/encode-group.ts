import { ENDS_TRANSACTION, HEADER_BYTES, SEAL, sealHeader } from "./record.js";

/** The texts of the events of one put transaction. */
export interface PutTexts {
  readonly texts: readonly string[];
  /** Bytes of all texts. */
  readonly bytes: number;
}

/** The bytes that a put takes in a segment. */
export function storedBytes({ texts, bytes }: PutTexts): number {
  return bytes + texts.length * HEADER_BYTES;
}

/** The records of several puts, one after the other, numbered from `first`. */
export function encodeGroup(puts: readonly PutTexts[], first: number): Buffer {
  const target = Buffer.allocUnsafe(puts.reduce((sum, put) => sum + storedBytes(put), 0));
  let at = 0;
  let sequence = first;
  for (const { texts } of puts) {
    for (const [index, text] of texts.entries()) {
      const length = target.write(text, at + HEADER_BYTES);
      const flags = index === texts.length - 1 ? ENDS_TRANSACTION : 0;
      sealHeader(target, at, length, { sequence, flags });
      at += HEADER_BYTES + length;
      sequence += 1;
    }
  }
  return target;
}

/** The record that closes a segment. */
export function encodeSeal(last: number): Buffer {
  const target = Buffer.alloc(HEADER_BYTES);
  sealHeader(target, 0, 0, { sequence: last, flags: SEAL });
  return target;
}
