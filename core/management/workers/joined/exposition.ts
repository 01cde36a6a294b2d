/** The metrics of one worker, or of the supervisor itself when it has no number. */
interface Exposed {
  readonly worker: number | undefined;
  readonly text: string;
}

interface Family {
  readonly head: Map<string, string>;
  readonly samples: string[];
}

/**
 * Texts of metrics as one: each family once with all its samples, those of a worker with the label `worker` before their own.
 * A label of that name that they have already is renamed as Prometheus does it.
 */
export function joinedMetrics(exposed: readonly Exposed[]): string {
  const families = new Map<string, Family>();
  for (const { worker, text } of exposed) collect(families, text, worker === undefined ? "" : `worker="${worker}"`);
  const lines = [...families.values()].flatMap(({ head, samples }) => [...head.values(), ...samples]);
  return lines.map((line) => `${line}\n`).join("");
}

function collect(families: Map<string, Family>, text: string, label: string): void {
  let name = "";
  for (const line of text.split("\n")) {
    const [, kind, described] = /^# (HELP|TYPE) (\S+)/.exec(line) ?? [];
    if (kind !== undefined && described !== undefined) {
      name = described;
      const { head } = familyOf(families, name);
      if (!head.has(kind)) head.set(kind, line);
    } else if (line !== "" && !line.startsWith("#")) {
      const [own = ""] = /^[^\s{]+/.exec(line) ?? [];
      familyOf(families, isPartOf(own, name) ? name : own).samples.push(labelled(line, own, label));
    }
  }
}

function familyOf(families: Map<string, Family>, name: string): Family {
  const known = families.get(name) ?? { head: new Map(), samples: [] };
  families.set(name, known);
  return known;
}

function isPartOf(sample: string, family: string): boolean {
  return family !== "" && sample.startsWith(family) && /^(?:_(?:bucket|sum|count))?$/.test(sample.slice(family.length));
}

function labelled(line: string, name: string, label: string): string {
  if (label === "") return line;
  if (line[name.length] !== "{") return `${name}{${label}}${line.slice(name.length)}`;
  const rest = line.slice(name.length + 1);
  return `${name}{${label}${rest.startsWith("}") ? "" : ","}${rest.includes('worker="') ? withoutWorker(rest) : rest}`;
}

/** Label by label, since the value of another may hold anything. */
function withoutWorker(labels: string): string {
  return labels.replace(/([A-Za-z_]\w*)="((?:[^"\\]|\\.)*)"/g, (whole, label: string, value: string) =>
    label === "worker" ? `exported_worker="${value}"` : whole,
  );
}
