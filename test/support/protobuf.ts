/** The fields of a message by number, each value as it was sent: a number or bytes. */
export type Message = ReadonlyMap<number, readonly (bigint | Buffer)[]>;

/** Reads the wire format of protocol buffers, without groups. */
export function readMessage(bytes: Buffer): Message {
  const fields = new Map<number, (bigint | Buffer)[]>();
  let at = 0;
  const varint = (): bigint => {
    let value = 0n;
    for (let shift = 0n; ; shift += 7n) {
      const byte = bytes.readUInt8(at);
      at += 1;
      value |= BigInt(byte & 127) << shift;
      if (byte < 128) return value;
    }
  };
  const taken = (length: number): Buffer => {
    if (at + length > bytes.length) throw new Error("the message ends within a field");
    at += length;
    return bytes.subarray(at - length, at);
  };
  const read = (wireType: number): bigint | Buffer => {
    if (wireType === 0) return varint();
    if (wireType === 1) return taken(8).readBigUInt64LE();
    if (wireType === 2) return taken(Number(varint()));
    if (wireType === 5) return BigInt(taken(4).readUInt32LE());
    throw new Error(`unknown wire type ${wireType}`);
  };
  while (at < bytes.length) {
    const tag = Number(varint());
    const value = read(tag & 7);
    fields.set(tag >> 3, [...(fields.get(tag >> 3) ?? []), value]);
  }
  return fields;
}

/** The sub-messages of a field. */
export function messagesIn(message: Message, field: number): readonly Message[] {
  return (message.get(field) ?? []).flatMap((value) => (Buffer.isBuffer(value) ? [readMessage(value)] : []));
}

export function bytesIn(message: Message, field: number): Buffer {
  const [value] = message.get(field) ?? [];
  return Buffer.isBuffer(value) ? value : Buffer.alloc(0);
}

export function numberIn(message: Message, field: number): number {
  const [value] = message.get(field) ?? [];
  return typeof value === "bigint" ? Number(value) : 0;
}
