/** What an expression of PromQL asks for. */
export interface AskedFor {
  /** Names of metrics. */
  readonly metrics: readonly string[];
  /** Names of labels that it selects, groups or matches by. */
  readonly labels: readonly string[];
}

/** The metrics and labels of an expression, by its words: it is not judged whether it is one. */
export function askedFor(expression: string): AskedFor {
  const withoutTexts = expression.replaceAll(/"[^"]*"/g, '""');
  const labels = new Set<string>();
  const named = withoutTexts
    .replaceAll(/\{([^}]*)\}/g, (_, matchers: string) => {
      for (const [, label = ""] of matchers.matchAll(/(\w+)\s*(?:=~|!~|!=|=)/g)) labels.add(label);
      return " ";
    })
    .replaceAll(/\b(?:by|without|on|ignoring|group_left|group_right)\s*\(([^)]*)\)/g, (_, list: string) => {
      for (const label of list.split(",")) if (label.trim() !== "") labels.add(label.trim());
      return " ";
    })
    .replaceAll(/\[[^\]]*\]/g, " ");
  const words = [...named.matchAll(/\b[a-zA-Z_:][\w:]*\b(?!\s*\()/g)].map(([word]) => word);
  const metrics = words.filter((word) => !OPERATORS.has(word));
  return { metrics: [...new Set(metrics)], labels: [...labels] };
}

const OPERATORS: ReadonlySet<string> = new Set([
  "and",
  "or",
  "unless",
  "by",
  "on",
  "sum",
  "count",
  "min",
  "max",
  "group",
  "topk",
  "offset",
  "bool",
]);

/** Metrics in the text format: the labels of each name that a series has. */
export function exposed(text: string): ReadonlyMap<string, ReadonlySet<string>> {
  const found = new Map<string, Set<string>>();
  for (const [, name = "", labels = ""] of text.matchAll(/^([a-zA-Z_:][\w:]*)(?:\{(.*)\})? \S+$/gm)) {
    const known = found.get(name) ?? new Set<string>();
    for (const [, label = ""] of labels.replaceAll(/"(?:[^"\\]|\\.)*"/g, '""').matchAll(/(\w+)=""/g)) known.add(label);
    found.set(name, known);
  }
  return found;
}
