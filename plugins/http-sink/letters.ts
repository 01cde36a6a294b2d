import type { Event } from "deneb/sdk";
import type { HttpSinkConfig } from "./config.js";
import { bodyText, entityKey, headerText, urlText } from "./event-fields.js";
import { filled, parseTemplate, type Template } from "./template.js";

/** One request to send. */
export interface Letter {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  readonly events: readonly Event[];
}

/** Letters that must go one after another. */
export type Lane = readonly Letter[];

/** Makes the requests of events by the templates of the configuration. */
export class Writer {
  readonly #config: HttpSinkConfig;
  readonly #url: Template;
  readonly #body: Template;
  readonly #batchBody: Template;
  readonly #headers: readonly (readonly [name: string, template: Template])[];

  constructor(config: HttpSinkConfig) {
    this.#config = config;
    this.#url = parseTemplate(config.url);
    this.#body = parseTemplate(config.body);
    this.#batchBody = parseTemplate(config.batch_body);
    this.#headers = Object.entries(config.headers).map(([name, text]) => [name, parseTemplate(text)]);
  }

  /** One lane for each entity, or for each destination of a batch. Throws for an event the templates cannot write. */
  lanes(events: readonly Event[]): readonly Lane[] {
    const written = events.map((event) => this.#letter(event));
    if (this.#config.send === "event") return grouped(written, ({ events: [event] }) => event && entityKey(event));
    const destinations = grouped(written, ({ url, headers }) => JSON.stringify([url, headers]));
    return destinations.map((letters) => [this.#joined(letters)]);
  }

  #letter(event: Event): Letter {
    return {
      url: urlText(this.#url, event),
      headers: Object.fromEntries(this.#headers.map(([name, template]) => [name, headerText(template, event)])),
      body: bodyText(this.#body, event),
      events: [event],
    };
  }

  #joined(letters: readonly Letter[]): Letter {
    const bodies = letters.map(({ body }) => body).join(this.#config.batch_separator);
    return {
      url: letters[0]?.url ?? "",
      headers: letters[0]?.headers ?? {},
      body: filled(this.#batchBody, () => bodies),
      events: letters.flatMap(({ events }) => events),
    };
  }
}

function grouped(letters: readonly Letter[], keyOf: (letter: Letter) => string | undefined): readonly Lane[] {
  const groups = new Map<string | undefined, Letter[]>();
  for (const letter of letters) {
    const key = keyOf(letter);
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [letter]);
    else group.push(letter);
  }
  return [...groups.values()];
}
