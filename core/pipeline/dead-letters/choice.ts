import { eventHeaders } from "../../ngsi/index.js";
import { isRecord } from "../../sdk/event.js";
import { givenTime } from "../given-time.js";
import { type DeadLetter, type DeadLetterReason, letterReasons, type OpenLetter } from "./dead-letter.js";

/** Which letters are meant; all when nothing is given. */
export interface LetterChoice {
  readonly id?: string | undefined;
  /** Those of one of these ids. */
  readonly ids?: ReadonlySet<string> | undefined;
  readonly sink?: string | undefined;
  readonly service?: string | undefined;
  /** Id of the entity. */
  readonly entity?: string | undefined;
  /** Type of the entity. */
  readonly type?: string | undefined;
  readonly reason?: DeadLetterReason | undefined;
  /** Code of the error. */
  readonly code?: string | undefined;
  /** A part of the message, in any letter case. */
  readonly text?: string | undefined;
  /** Letters that were kept then or later. */
  readonly since?: Date | undefined;
  /** Letters that were kept before or then. */
  readonly until?: Date | undefined;
}

/** The members of a choice as people write them. */
export const choiceNames = ["sink", "service", "entity", "type", "reason", "code", "text", "since", "until"] as const;

export type ChoiceText = { readonly [K in (typeof choiceNames)[number]]?: string | undefined };

export function isChosen(choice: LetterChoice, letter: OpenLetter): boolean {
  return isOfLetter(choice, letter) && isWithin(choice, letter) && isAbout(choice, letter);
}

function isOfLetter({ id, ids, sink, reason, code, text }: LetterChoice, letter: OpenLetter): boolean {
  if (id !== undefined && letter.id !== id) return false;
  if (ids !== undefined && !ids.has(letter.id)) return false;
  if (sink !== undefined && letter.sink !== sink) return false;
  if (reason !== undefined && letter.reason !== reason) return false;
  if (code !== undefined && letter.code !== code) return false;
  return text === undefined || letter.message.toLowerCase().includes(text.toLowerCase());
}

function isWithin({ since, until }: LetterChoice, { time }: OpenLetter): boolean {
  if (since === undefined && until === undefined) return true;
  const kept = Date.parse(time);
  return (since === undefined || kept >= since.getTime()) && (until === undefined || kept <= until.getTime());
}

function isAbout({ service, entity, type }: LetterChoice, letter: OpenLetter): boolean {
  if (service === undefined && entity === undefined && type === undefined) return true;
  const subject = subjectOf(letter);
  return (
    (service === undefined || subject.service === service) &&
    (entity === undefined || subject.entityId === entity) &&
    (type === undefined || subject.entityType === type)
  );
}

/** Reads a choice; a text says what is wrong with it. */
export function readChoice(given: ChoiceText): LetterChoice | string {
  const { sink, service, entity, type, code, text } = given;
  const empty = choiceNames.find((name) => given[name] === "");
  if (empty !== undefined) return `${empty} has no value; leave it out to choose all`;
  const reason = letterReasons.find((one) => one === given.reason);
  if (given.reason !== undefined && reason === undefined) {
    return `reason "${given.reason}" is none; give ${letterReasons.join(" or ")}`;
  }
  const times = { since: timeIn(given.since), until: timeIn(given.until) };
  for (const name of ["since", "until"] as const) {
    if (Number.isNaN(times[name]?.getTime())) {
      return `${name} "${given[name]}" is no time; give one as 2026-01-31T08:00:00Z`;
    }
  }
  return { sink, service, entity, type, reason, code, text, ...times };
}

function timeIn(text: string | undefined): Date | undefined {
  return text === undefined ? undefined : givenTime(text);
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
  const value = isRecord(body) ? body[name] : undefined;
  return typeof value === "string" ? value : undefined;
}
