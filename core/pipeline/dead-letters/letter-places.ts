/**
 * Which events of a channel have a shared letter, by what the positions of the channel call them: such an event is taken
 * again when the agent that wrote the letter ended before it had passed the event.
 */
export class LetterPlaces {
  readonly #offsets = new Map<string, number>();

  /** The id of a letter is that of its event in the channel, a hyphen and more. */
  note(id: string, offset: number): void {
    this.#offsets.set(id.slice(0, Math.max(0, id.lastIndexOf("-"))), offset);
  }

  has(idInChannel: string): boolean {
    return this.#offsets.has(idInChannel);
  }

  /** The letters before this offset are settled. */
  forget(before: number): void {
    for (const [id, offset] of this.#offsets) if (offset < before) this.#offsets.delete(id);
  }
}
