import { createHash } from "node:crypto";

const keyWords = 4;
/** How many rows there is room for at first. */
const leastRows = 64;

/** Gives each id a row of its own, counted from 0, for good. An id is kept as 16 bytes, outside of the heap. */
export class RowsById {
  /** How many ids have a row. */
  size = 0;
  #slots = new Int32Array(leastRows * 2);
  #keys = new Uint32Array(leastRows * keyWords);

  /** How many rows there is room for. */
  get room(): number {
    return this.#slots.length / 2;
  }

  /** The row of an id; undefined when it has none. */
  find(id: string): number | undefined {
    return this.#rowIn(this.#slotOf(keyOf(id)));
  }

  /** The row of an id, a new one when it has none. */
  add(id: string): number {
    return this.#add(keyOf(id));
  }

  /** The same for the id that has a certain row of others. */
  addFrom(others: RowsById, row: number): number {
    return this.#add(others.#keys.subarray(row * keyWords, (row + 1) * keyWords));
  }

  #add(key: Uint32Array): number {
    if (this.size === this.room) this.#grow();
    const slot = this.#slotOf(key);
    const known = this.#rowIn(slot);
    if (known !== undefined) return known;
    const row = this.size;
    this.size += 1;
    this.#slots[slot] = row + 1;
    this.#keys.set(key, row * keyWords);
    return row;
  }

  #rowIn(slot: number): number | undefined {
    const row = (this.#slots[slot] ?? 0) - 1;
    return row === -1 ? undefined : row;
  }

  /** The slot that holds the key, or the empty one where it belongs. */
  #slotOf(key: Uint32Array): number {
    const most = this.#slots.length;
    for (let slot = (key[0] ?? 0) % most; ; slot = (slot + 1) % most) {
      const row = this.#rowIn(slot);
      if (row === undefined) return slot;
      let same = 0;
      while (same < keyWords && this.#keys[row * keyWords + same] === key[same]) same += 1;
      if (same === keyWords) return slot;
    }
  }

  #grow(): void {
    const rows = this.room * 2;
    const keys = new Uint32Array(rows * keyWords);
    keys.set(this.#keys);
    this.#keys = keys;
    this.#slots = new Int32Array(rows * 2);
    for (let row = 0; row < this.size; row += 1) {
      this.#slots[this.#slotOf(keys.subarray(row * keyWords, (row + 1) * keyWords))] = row + 1;
    }
  }
}

/** Half of a SHA-256: two ids never have the same. */
function keyOf(id: string): Uint32Array {
  const digest = createHash("sha256").update(id).digest();
  return Uint32Array.of(
    digest.readUInt32LE(0),
    digest.readUInt32LE(4),
    digest.readUInt32LE(8),
    digest.readUInt32LE(12),
  );
}
