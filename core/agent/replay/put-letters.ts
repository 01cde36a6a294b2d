import { type OpenLetter, replayedEvent } from "../../pipeline/dead-letters/dead-letter.js";
import { type Channel, codeOf } from "../../sdk/index.js";

/** Letters that are replayed together. */
export type ReplayBatch = readonly (Pick<OpenLetter, "id" | "event"> & {
  /** Where the letter stands among those that agents share. */
  readonly sentAt?: number | undefined;
})[];

interface Parts {
  /** The letters that are in the channel. */
  readonly sent: ReplayBatch;
  /** Why others are not. */
  readonly error?: unknown;
}

/**
 * Letters do not belong together: where there is no room for all of them they are put in parts, and one that the channel
 * could never hold does not keep the others out.
 */
export async function putInParts(channel: Pick<Channel, "openPut">, letters: ReplayBatch): Promise<Parts> {
  try {
    return await put(channel, letters);
  } catch (error) {
    // A channel that opens no transaction, or takes none back.
    return { sent: [], error };
  }
}

async function put(channel: Pick<Channel, "openPut">, letters: ReplayBatch): Promise<Parts> {
  const transaction = channel.openPut(undefined, "again");
  try {
    for (const letter of letters) transaction.put(replayedEvent(letter, letter.sentAt));
    // Only a letter by itself waits for room.
    if (letters.length > 1) await transaction.reserve?.("at-once");
    await transaction.commit();
    return { sent: letters };
  } catch (error) {
    await transaction.rollback();
    if (letters.length === 1 || !isNoRoom(error)) return { sent: [], error };
    const half = Math.ceil(letters.length / 2);
    const first = await putInParts(channel, letters.slice(0, half));
    if (first.error !== undefined && !isTooLarge(first.error)) return first;
    const second = await putInParts(channel, letters.slice(half));
    return { sent: [...first.sent, ...second.sent], error: second.error ?? first.error };
  }
}

function isNoRoom(error: unknown): boolean {
  return codeOf(error) === "CHANNEL_FULL" || isTooLarge(error);
}

function isTooLarge(error: unknown): boolean {
  return codeOf(error) === "NOTIFICATION_TOO_LARGE";
}
