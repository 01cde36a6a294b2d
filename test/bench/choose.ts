/**
 * Those whose name holds one of the texts, all without a text. A text in which there are several words is found where
 * all of them are. Case, punctuation and the commas of large numbers do not count; a number is only found as a whole.
 */
export function choose<T extends { readonly name: string }>(
  list: readonly T[],
  texts: readonly string[],
): readonly T[] {
  if (texts.length === 0) return list;
  return list.filter(({ name }) => texts.some((text) => holds(name, text)));
}

function holds(name: string, text: string): boolean {
  const there = words(name);
  return words(text).every((wanted) =>
    /^\d+$/.test(wanted) ? there.includes(wanted) : there.some((word) => word.includes(wanted)),
  );
}

function words(text: string): readonly string[] {
  const plain = text.toLowerCase().replace(/(?<=\d),(?=\d{3})/g, "");
  return plain.split(/[^a-z0-9_]+/).filter((word) => word !== "");
}
