/** One event of a stream of server-sent events. */
export interface StreamEvent {
  readonly name: string;
  readonly data: string;
}

/** Cuts the text of a stream into its events, however the text arrives. Lines of comments are left out. */
export class EventReader {
  #rest = "";

  /** The events that the text completes. */
  take(text: string): readonly StreamEvent[] {
    const blocks = (this.#rest + text).replaceAll("\r\n", "\n").split("\n\n");
    this.#rest = blocks.pop() ?? "";
    return blocks.map(eventOf).filter((event) => event !== undefined);
  }
}

function eventOf(block: string): StreamEvent | undefined {
  const lines = block.split("\n").filter((line) => !line.startsWith(":"));
  const data = valuesOf(lines, "data");
  if (data.length === 0) return undefined;
  return { name: valuesOf(lines, "event").at(-1) ?? "message", data: data.join("\n") };
}

function valuesOf(lines: readonly string[], field: string): readonly string[] {
  return lines
    .filter((line) => line.startsWith(`${field}:`))
    .map((line) => line.slice(field.length + 1).replace(/^ /, ""));
}
