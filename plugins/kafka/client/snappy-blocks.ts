/** With it the frame begins that the clients and brokers of Kafka put around blocks of snappy; two numbers of its version follow. */
const FRAME = Buffer.from("\x82SNAPPY\0", "latin1");
const BLOCKS_AT = 16;
const LENGTH_BYTES = 4;

/** What is compressed with snappy, in blocks with their lengths as Java writes it, or in a single one as others do. */
export function snappyUncompressed(bytes: Buffer, decompress: (block: Buffer) => Buffer): Buffer {
  if (!bytes.subarray(0, FRAME.length).equals(FRAME)) return decompress(bytes);
  const blocks: Buffer[] = [];
  for (let at = BLOCKS_AT; at < bytes.length; ) {
    const from = at + LENGTH_BYTES;
    const end = from + bytes.readUInt32BE(at);
    if (end > bytes.length) throw new Error("a block of snappy is cut off");
    blocks.push(decompress(bytes.subarray(from, end)));
    at = end;
  }
  return Buffer.concat(blocks);
}
