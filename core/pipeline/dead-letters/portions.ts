/** Letters that one line of work handles at once. */
const lettersAtOnce = 1000;

/** Ids of letters, which may be many. */
export type LetterIds = Iterable<string> | AsyncIterable<string>;

/** The ids in arrays that are handled one after another. */
export async function* portionsOf(ids: LetterIds): AsyncGenerator<string[]> {
  let some: string[] = [];
  for await (const id of ids) {
    some.push(id);
    if (some.length < lettersAtOnce) continue;
    yield some;
    some = [];
  }
  if (some.length > 0) yield some;
}
