import { areReadAlike, type HeaderFields, readHeadersOf } from "../headers.js";
import type { Notification } from "../model.js";
import type { Form } from "./form.js";
import { learnedForm, type Read } from "./learned-form.js";

/** Characters; a longer text is read by itself. Entities hold on to the text that they were read from. */
const LONGEST_TEXT = 8192;
const MOST_SUBSCRIPTIONS = 500;
/** Of the texts that all forms were learned from; a form takes some thirty times as many bytes. */
const MOST_CHARACTERS = 200_000;

/** To learn a form takes as long as to read some hundred notifications: it must have been earned, by all and by its subscription. */
const MOST_CREDIT = 100;
const CHARACTERS_OF_A_CREDIT = 2000;
const CREDIT_OF_A_HIT = 1 / 500;
const CREDIT_OF_A_MISS = 1 / 5000;

/** What a notification is read by, besides its text. */
interface ReadBy {
  readonly version: string;
  readonly headers: HeaderFields;
}

interface KnownForm extends ReadBy {
  readonly form: Form;
}

/** The forms of the notifications of each subscription, learned from those that come: a subscription has few, and they come again. */
export class KnownForms {
  readonly #longestId: number;
  readonly #subscriptions = new Map<string, FormsOfSubscription>();
  readonly #ids = new SharedIds();
  /** Of the last text; undefined for one that is too long. */
  #subscription: string | undefined;
  #characters = 0;
  #credit = MOST_CREDIT;

  constructor(longestId: number) {
    this.#longestId = longestId;
  }

  /** Undefined if no known form reads the text: then it has to be read by itself, and {@link missed} called. */
  read(text: string, version: string, headers: HeaderFields): Notification | undefined {
    this.#subscription = text.length > LONGEST_TEXT ? undefined : subscriptionIn(text);
    const known = this.#subscription === undefined ? undefined : this.#subscriptions.get(this.#subscription);
    if (known === undefined || !known.isWorthTrying()) return undefined;
    for (let at = 0; at < known.forms.length; at += 1) {
      const one = known.forms[at];
      if (one === undefined || one.version !== version || !areReadAlike(one.headers, headers)) continue;
      const notification = this.#readBy(one.form, text);
      if (notification === undefined) continue;
      known.hit(at);
      if (this.#credit < MOST_CREDIT) this.#credit += CREDIT_OF_A_HIT;
      return notification;
    }
    return undefined;
  }

  #readBy(form: Form, text: string): Notification | undefined {
    try {
      return form.read(text, this.#longestId, this.#ids);
    } catch {
      // Of a number that may be too long: reading it by itself says so.
      return undefined;
    }
  }

  /** The text that {@link read} was last called with was read by itself. Its form is learned, but not from the first notification of a subscription. */
  missed(text: string, { version, headers, read }: ReadBy & { readonly read: Read }): void {
    const subscription = this.#subscription;
    if (subscription === undefined) return;
    const known = this.#subscriptions.get(subscription);
    if (known === undefined) {
      if (this.#subscriptions.size >= MOST_SUBSCRIPTIONS) this.#clear();
      this.#subscriptions.set(detached(subscription), new FormsOfSubscription());
      return;
    }
    this.#credit += CREDIT_OF_A_MISS;
    if (this.#credit < 1 || !known.mayLearn()) return;
    this.#credit -= 1 + text.length / CHARACTERS_OF_A_CREDIT;
    const form = learnedForm(text, read);
    if (form === undefined) return;
    if (this.#characters + text.length > MOST_CHARACTERS) this.#clear();
    this.#characters += text.length;
    known.add({ form, version, headers: readHeadersOf(headers) });
  }

  #clear(): void {
    this.#subscriptions.clear();
    this.#characters = 0;
  }
}

const MOST_FORMS = 6;
const MOST_ATTEMPTS = 12;
const ATTEMPTS_OF_A_HIT = 1 / 200;
/** Misses one after another, after which the forms are tried with each tenth text only. */
const MOST_MISSES = 50;
const TENTH = 10;

/** The forms of one subscription, those that come most often first. */
class FormsOfSubscription {
  readonly forms: KnownForm[] = [];
  #attempts = MOST_ATTEMPTS;
  #misses = 0;

  /** Whether the forms are tried with the next text, which counts as a miss until there is a {@link hit}. */
  isWorthTrying(): boolean {
    this.#misses += 1;
    return this.#misses < MOST_MISSES || this.#misses % TENTH === 0;
  }

  hit(at: number): void {
    this.#misses = 0;
    if (this.#attempts < MOST_ATTEMPTS) this.#attempts += ATTEMPTS_OF_A_HIT;
    if (at === 0) return;
    const [before, one] = this.forms.slice(at - 1, at + 1);
    if (before !== undefined && one !== undefined) this.forms.splice(at - 1, 2, one, before);
  }

  /** Counts the attempt. */
  mayLearn(): boolean {
    if (this.#attempts < 1) return false;
    this.#attempts -= 1;
    return true;
  }

  /** In the place of the last one where there are many. */
  add(form: KnownForm): void {
    this.#misses = 0;
    this.forms.splice(MOST_FORMS - 1, 1);
    this.forms.push(form);
  }
}

const MOST_IDS = 5000;
const LONGEST_ID = 200;

/**
 * Ids of entities with memory of their own, the same text each time: tables and services are remembered by them, and a part of the text of a
 * notification would keep all of it.
 */
class SharedIds {
  readonly #ids = new Map<string, string>();

  of(id: string): string {
    const known = this.#ids.get(id);
    if (known !== undefined) return known;
    const own = detached(id);
    if (id.length > LONGEST_ID) return own;
    if (this.#ids.size >= MOST_IDS) this.#ids.clear();
    this.#ids.set(own, own);
    return own;
  }
}

const SUBSCRIPTION = '"subscriptionId"';

/** The id of the subscription where it is written as usual; notifications for which this says the same share a list of forms. */
function subscriptionIn(text: string): string {
  const name = text.indexOf(SUBSCRIPTION);
  if (name === -1) return "";
  const start = text.indexOf('"', name + SUBSCRIPTION.length) + 1;
  return text.slice(start, text.indexOf('"', start));
}

/** The same text with memory of its own. */
function detached(text: string): string {
  return Buffer.from(text).toString();
}
