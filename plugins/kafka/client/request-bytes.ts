const TWO_TO_32 = 2 ** 32;

/** Bytes of a request, written one after another into a buffer that has room for them. */
export class RequestBytes {
  readonly #buffer: Buffer;
  #at = 0;

  constructor(size: number) {
    this.#buffer = Buffer.allocUnsafe(size);
  }

  get at(): number {
    return this.#at;
  }

  /** What was written from `from` on. */
  since(from: number): Buffer {
    return this.#buffer.subarray(from, this.#at);
  }

  int8(value: number): void {
    this.#at = this.#buffer.writeInt8(value, this.#at);
  }

  int16(value: number): void {
    this.#at = this.#buffer.writeInt16BE(value, this.#at);
  }

  int32(value: number): void {
    this.#at = this.#buffer.writeInt32BE(value, this.#at);
  }

  /** A safe integer. */
  int64(value: number): void {
    this.int32(Math.floor(value / TWO_TO_32));
    this.#at = this.#buffer.writeUInt32BE(((value % TWO_TO_32) + TWO_TO_32) % TWO_TO_32, this.#at);
  }

  bigint64(value: bigint): void {
    this.#at = this.#buffer.writeBigInt64BE(value, this.#at);
  }

  /** Writes over four bytes that were written before. */
  uint32At(at: number, value: number): void {
    this.#buffer.writeUInt32BE(value, at);
  }

  /** A number from 0 on, in as many bytes as it needs. */
  unsigned(value: number): void {
    let rest = value;
    for (; rest > 127; rest = Math.floor(rest / 128)) this.#buffer[this.#at++] = (rest % 128) | 128;
    this.#buffer[this.#at++] = rest;
  }

  /** A number of either sign, in as many bytes as it needs. */
  signed(value: number): void {
    this.unsigned(zigzag(value));
  }

  append(bytes: Uint8Array): void {
    this.#buffer.set(bytes, this.#at);
    this.#at += bytes.length;
  }

  /** Bytes behind their length, which is -1 for none. */
  sized(bytes: Uint8Array | undefined): void {
    this.signed(bytes?.length ?? -1);
    if (bytes !== undefined) this.append(bytes);
  }
}

function unsignedSize(value: number): number {
  let size = 1;
  for (let rest = value; rest > 127; rest = Math.floor(rest / 128)) size += 1;
  return size;
}

export function signedSize(value: number): number {
  return unsignedSize(zigzag(value));
}

/** The bytes that `sized` writes. */
export function sizedSize(bytes: Uint8Array | undefined): number {
  return signedSize(bytes?.length ?? -1) + (bytes?.length ?? 0);
}

/** Small numbers of both signs as small ones from 0 on. */
function zigzag(value: number): number {
  return value < 0 ? -2 * value - 1 : 2 * value;
}
