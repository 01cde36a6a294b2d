/** Lists that are each in order as one: next comes always the head that is before the others, of equal ones the first. */
export function mergedInOrder<T>(
  lists: readonly (readonly T[])[],
  compare: (one: T, other: T) => number,
): readonly T[] {
  const heads = lists.map(() => 0);
  const merged: T[] = [];
  for (;;) {
    let next: { readonly list: number; readonly item: T } | undefined;
    for (const [list, items] of lists.entries()) {
      const item = items[heads[list] ?? 0];
      if (item !== undefined && (next === undefined || compare(item, next.item) < 0)) next = { list, item };
    }
    if (next === undefined) return merged;
    heads[next.list] = (heads[next.list] ?? 0) + 1;
    merged.push(next.item);
  }
}
