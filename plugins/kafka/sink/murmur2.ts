const SEED = 0x9747b28c;
const FACTOR = 0x5bd1e995;

/** The hash by which the clients of Kafka choose the partition of a key; that of the library takes quadratic time on long keys. */
export function murmur2(key: Uint8Array): number {
  const { length } = key;
  const whole = length - (length % 4);
  const view = new DataView(key.buffer, key.byteOffset, length);
  let hash = SEED ^ length;
  for (let at = 0; at < whole; at += 4) {
    const mixed = Math.imul(view.getInt32(at, true), FACTOR);
    hash = Math.imul(hash, FACTOR) ^ Math.imul(mixed ^ (mixed >>> 24), FACTOR);
  }
  if (whole < length) {
    for (let at = whole; at < length; at += 1) hash ^= (key[at] ?? 0) << (8 * (at - whole));
    hash = Math.imul(hash, FACTOR);
  }
  hash ^= hash >>> 13;
  hash = Math.imul(hash, FACTOR);
  return hash ^ (hash >>> 15);
}
