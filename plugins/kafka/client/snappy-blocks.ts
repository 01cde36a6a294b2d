/** With it the frame begins that the clients and brokers of Kafka put around blocks of snappy; two numbers of its version follow. */
const FRAME = Buffer.from("\x82SNAPPY\0", "latin1");
const BLOCKS_AT = 16;
const LENGTH_BYTES = 4;

/** The blocks of what is compressed with snappy: behind their lengths as Java writes it, or a single one as others do. */
export function snappyBlocks(bytes: Buffer): readonly Buffer[] {
  if (!bytes.subarray(0, FRAME.length).equals(FRAME)) return [bytes];
  const blocks: Buffer[] = [];
  for (let at = BLOCKS_AT; at < bytes.length; ) {
    const from = at + LENGTH_BYTES;
    const end = from + bytes.readUInt32BE(at);
    if (end > bytes.length) throw new Error("a block of snappy is cut off");
    blocks.push(bytes.subarray(from, end));
    at = end;
  }
  return blocks;
}
