import Table from "cli-table3";

/** A table for people: texts in cells. */
export interface Sheet {
  readonly title: string;
  readonly head: readonly string[];
  /** A row that is shorter than the head has its last cell over the rest. */
  readonly rows: readonly (readonly string[])[];
}

/** With lines, for a terminal. */
export function terminalOf({ title, head, rows }: Sheet): string {
  const table = new Table({ head: [...head], style: { head: [], border: [] } });
  for (const row of rows) {
    const missing = head.length - row.length;
    const cells = row.map((content, at) =>
      missing > 0 && at === row.length - 1 ? { content, colSpan: missing + 1 } : content,
    );
    table.push(cells);
  }
  return `${title}\n${table.toString()}`;
}

/** A section with a table, for a page. */
export function markdownOf({ title, head, rows }: Sheet): string {
  const line = (cells: readonly string[]) => `| ${cells.map((cell) => cell.replaceAll("|", "\\|")).join(" | ")} |`;
  const filled = rows.map((row) => [...row, ...head.slice(row.length).map(() => "")]);
  return [`### ${title}`, "", line(head), line(head.map(() => "---")), ...filled.map(line)].join("\n");
}

/** At most so many digits behind the point, with commas between the thousands. */
export function figure(value: number, digits = 0): string {
  return value.toLocaleString("en", { maximumFractionDigits: digits });
}
