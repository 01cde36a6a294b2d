/** How many bytes come of a block of snappy: it begins with the number, seven bits in each byte. */
export function snappyLength(block: Buffer): number {
  let length = 0;
  for (let at = 0, factor = 1; ; at += 1, factor *= 128) {
    const byte = block.readUInt8(at);
    length += (byte & 0x7f) * factor;
    if (byte < 0x80) return length;
  }
}

const LZ4_MAGIC = 0x184d2204;
const LZ4_FLAGS_AT = 4;
const LZ4_BLOCKS_AT = 7;
const HAS_CONTENT_SIZE = 0b1000;
const HAS_BLOCK_CHECKSUM = 0b1_0000;
const HAS_DICTIONARY = 0b1;
const IS_STORED = 0x8000_0000;

/** How many come of a frame of lz4: the sum of its blocks, since its head need not say it, and may say anything. */
export function lz4Length(frame: Buffer): number {
  if (frame.readUInt32LE(0) !== LZ4_MAGIC) throw new Error("no frame of lz4");
  const flags = frame.readUInt8(LZ4_FLAGS_AT);
  const behindBlock = (flags & HAS_BLOCK_CHECKSUM) === 0 ? 0 : 4;
  let at = LZ4_BLOCKS_AT + ((flags & HAS_CONTENT_SIZE) === 0 ? 0 : 8) + ((flags & HAS_DICTIONARY) === 0 ? 0 : 4);
  let length = 0;
  for (;;) {
    const size = frame.readUInt32LE(at);
    if (size === 0) return length;
    const from = at + 4;
    const end = from + (size & ~IS_STORED);
    if (end > frame.length) throw new Error("a block of lz4 is cut off");
    length += size >= IS_STORED ? end - from : blockLength(frame.subarray(from, end));
    at = end + behindBlock;
  }
}

/** Of a block: literals, and what is repeated of the bytes before, both with their lengths. */
function blockLength(block: Buffer): number {
  let length = 0;
  let at = 0;
  const read = (nibble: number): number => {
    let sum = nibble;
    for (let byte = nibble === 15 ? 255 : 0; byte === 255; sum += byte) byte = block.readUInt8(at++);
    return sum;
  };
  while (at < block.length) {
    const token = block.readUInt8(at++);
    const literals = read(token >> 4);
    at += literals + 2;
    length += literals;
    // The last ones repeat nothing.
    if (at < block.length) length += read(token & 15) + 4;
  }
  return length;
}
