const LENGTH_BYTES = 4;

/** Cuts the bytes of one direction of a PostgreSQL connection without TLS into messages. */
export class MessageReader {
  readonly #see: (type: string, body: Buffer) => void;
  #rest: Buffer = Buffer.alloc(0);
  /** The first message of a client has no type. */
  #untyped: boolean;

  constructor(first: "startup" | "typed", see: (type: string, body: Buffer) => void) {
    this.#untyped = first === "startup";
    this.#see = see;
  }

  read(chunk: Buffer): void {
    let bytes = this.#rest.length === 0 ? chunk : Buffer.concat([this.#rest, chunk]);
    for (;;) {
      const head = this.#untyped ? 0 : 1;
      if (bytes.length < head + LENGTH_BYTES) break;
      const end = head + bytes.readUInt32BE(head);
      if (bytes.length < end) break;
      const type = this.#untyped ? "" : bytes.toString("latin1", 0, 1);
      this.#see(type, bytes.subarray(head + LENGTH_BYTES, end));
      this.#untyped = false;
      bytes = bytes.subarray(end);
    }
    this.#rest = bytes;
  }
}
