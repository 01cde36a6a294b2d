/** Metrics in the text format of Prometheus. */
export interface MetricsText {
  /** The worker that answers them; undefined for those of the supervisor. */
  readonly worker: number | undefined;
  readonly text: string;
}

interface Family {
  /** The lines with HELP and TYPE, the first of each kind. */
  readonly about: Map<string, string>;
  readonly samples: string[];
}

/** All of them as one text: each sample of a worker has its number as a label. */
export function prometheusTextOf(texts: readonly MetricsText[]): string {
  const families = new Map<string, Family>();
  for (const { worker, text } of texts) {
    let family = empty();
    for (const line of text.split("\n")) {
      const [, kind = "", name] = /^# (HELP|TYPE) (\S+)/.exec(line) ?? [];
      if (name !== undefined) family = known(families, name, { kind, line });
      else if (line !== "") family.samples.push(worker === undefined ? line : labelled(line, worker));
    }
  }
  return [...families.values()].map(({ about, samples }) => [...about.values(), ...samples, ""].join("\n")).join("\n");
}

function known(families: Map<string, Family>, name: string, { kind, line }: { kind: string; line: string }): Family {
  const family = families.get(name) ?? empty();
  families.set(name, family);
  if (!family.about.has(kind)) family.about.set(kind, line);
  return family;
}

function empty(): Family {
  return { about: new Map(), samples: [] };
}

function labelled(sample: string, worker: number): string {
  const [, name = "", rest = ""] = /^([^\s{]+)(.*)$/.exec(sample) ?? [];
  const label = `worker="${worker}"`;
  if (!rest.startsWith("{")) return `${name}{${label}}${rest}`;
  return `${name}{${label}${rest.startsWith("{}") ? "" : ","}${rest.slice(1)}`;
}
