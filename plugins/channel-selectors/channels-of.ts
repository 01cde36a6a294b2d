/** The channels of a list separated by blanks or commas, each once. */
export function channelsOf(list: string): readonly string[] {
  return [...new Set(list.split(/[\s,]+/).filter((name) => name !== ""))];
}
