import { eventHeaders } from "../../ngsi/index.js";
import { type DeadLetter, type DeadLetterReason, letterReasons, type OpenLetter } from "./dead-letter.js";

/** Which letters are meant; all when nothing is given. */
export interface LetterChoice {
  readonly id?: string | undefined;
  readonly sink?: string | undefined;
  readonly service?: string | undefined;
  /** Id of the entity. */
  readonly entity?: string | undefined;
  readonly reason?: DeadLetterReason | undefined;
  /** Letters that were kept then or later. */
  readonly since?: Date | undefined;
}

/** The members of a choice as people write them. */
export const choiceNames = ["sink", "service", "entity", "reason", "since"] as const;

export type ChoiceText = { readonly [K in (typeof choiceNames)[number]]?: string | undefined };

export function isChosen({ id, sink, service, entity, reason, since }: LetterChoice, letter: OpenLetter): boolean {
  if (id !== undefined && letter.id !== id) return false;
  if (sink !== undefined && letter.sink !== sink) return false;
  if (reason !== undefined && letter.reason !== reason) return false;
  if (since !== undefined && !(Date.parse(letter.time) >= since.getTime())) return false;
  if (service === undefined && entity === undefined) return true;
  const subject = subjectOf(letter);
  return (
    (service === undefined || subject.service === service) && (entity === undefined || subject.entityId === entity)
  );
}

/** Reads a choice; a text says what is wrong with it. */
export function readChoice(text: ChoiceText): LetterChoice | string {
  const { sink, service, entity, reason: reasonText, since: sinceText } = text;
  const empty = choiceNames.find((name) => text[name] === "");
  if (empty !== undefined) return `${empty} has no value; leave it out to choose all`;
  const reason = letterReasons.find((one) => one === reasonText);
  if (reasonText !== undefined && reason === undefined) {
    return `reason "${reasonText}" is none; give ${letterReasons.join(" or ")}`;
  }
  const since = sinceText === undefined ? undefined : new Date(sinceText);
  if (since !== undefined && Number.isNaN(since.getTime())) {
    return `since "${sinceText}" is no time; give one as 2026-01-31T08:00:00Z`;
  }
  return { sink, service, entity, reason, since };
}

/** What a letter is about, as far as its event says. */
interface LetterSubject {
  readonly service?: string;
  readonly servicePath?: string;
  readonly entityId?: string;
  readonly entityType?: string;
}

export function subjectOf({ event }: Pick<DeadLetter, "event">): LetterSubject {
  const { headers, body } = event;
  const subject = {
    service: headers[eventHeaders.service],
    servicePath: headers[eventHeaders.servicePath],
    entityId: textIn(body, "id"),
    entityType: textIn(body, "type"),
  };
  return Object.fromEntries(Object.entries(subject).filter(([, text]) => text !== undefined));
}

function textIn(body: unknown, name: string): string | undefined {
  if (typeof body !== "object" || body === null) return undefined;
  const value: unknown = Reflect.get(body, name);
  return typeof value === "string" ? value : undefined;
}
