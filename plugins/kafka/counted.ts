/** A number with its noun: `1 topic`, `2 topics`. */
export function counted(number: number, noun: string): string {
  return `${number} ${number === 1 ? noun : `${noun}s`}`;
}
