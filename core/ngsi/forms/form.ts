import type { Attribute, Entity, Member, Notification, Value } from "../model.js";
import { parseJson, toValue } from "../values/json.js";
import type { Digits } from "../values/lossy-numbers.js";
import type { Leaf } from "./leaves.js";
import { type Found, type Group, Pattern } from "./pattern.js";

/** Characters of a text that nothing is made of, such as the id of a notification. */
const LONGEST_STRAY = 200;

/** Gives ids of entities memory of their own. */
export interface Ids {
  of(id: string): string;
}

/**
 * How notifications are read that differ in their leaves only, such as those of one sensor: what stands around the leaves is compared, and
 * the entities are made of constant parts and of leaves. No JSON is parsed, and nothing else is decided.
 */
export class Form {
  readonly #expression: RegExp;
  readonly #strays: Pattern["strays"];
  readonly #subscriptionId: string | undefined;
  readonly #notifiedAt: Text | undefined;
  readonly #entities: readonly EntityForm[];

  /** `marked`: what is read of the text with marks in the places of the leaves. */
  constructor(text: string, leaves: readonly Leaf[], marked: Notification) {
    const { subscriptionId, notifiedAt, entities } = marked;
    const made = [...(notifiedAt === undefined ? [] : [notifiedAt]), ...entities.flatMap(textsOfEntity)];
    const digits = entities[0]?.api === "v2" ? "sent" : "precise";
    const pattern = new Pattern(text, leaves, made);
    const parts: Parts = { text: (one) => new Text(pattern.piecesOf(one), digits) };
    this.#expression = pattern.expression;
    this.#strays = pattern.strays;
    this.#subscriptionId = subscriptionId;
    this.#notifiedAt = notifiedAt === undefined ? undefined : parts.text(notifiedAt);
    this.#entities = entities.map((entity) => new EntityForm(entity, parts));
  }

  /** Undefined if the text is of another form, or the id of an entity longer than that. Throws what the parser throws for a number. */
  read(text: string, longestId: number, ids: Ids): Notification | undefined {
    const found: Found | null = this.#expression.exec(text);
    if (found === null || !arePlain(this.#strays.numbers, found)) return undefined;
    const { texts } = this.#strays;
    // The entities hold on to the whole text.
    for (let at = 0; at < texts.length; at += 1) {
      if ((found[texts[at] ?? 0]?.length ?? 0) > LONGEST_STRAY) return undefined;
    }
    const entities: Entity[] = [];
    for (let at = 0; at < this.#entities.length; at += 1) {
      const entity = this.#entities[at]?.entity(found, ids);
      if (entity === undefined || entity.id.length > longestId) return undefined;
      entities.push(entity);
    }
    const notification: { subscriptionId?: string; notifiedAt?: string; entities: readonly Entity[] } = { entities };
    if (this.#subscriptionId !== undefined) notification.subscriptionId = this.#subscriptionId;
    if (this.#notifiedAt !== undefined) notification.notifiedAt = this.#notifiedAt.in(found);
    return notification;
  }
}

function textsOfEntity({ id, attributes }: Entity): readonly string[] {
  return [id, ...attributes.flatMap(textsOfAttribute)];
}

function textsOfAttribute({ value, members, others = [] }: Attribute): readonly string[] {
  return [value.text, ...members.flatMap(textsOfMember), ...others.flatMap(textsOfAttribute)];
}

function textsOfMember({ value, members = [] }: Member): readonly string[] {
  return [value.text, ...members.flatMap(textsOfMember)];
}

interface Parts {
  text(marked: string): Text;
}

/** A text that is constant, or captured, or put together of both. */
class Text {
  /** Undefined unless it is the same in all notifications. */
  readonly constant: string | undefined;
  readonly #only: Group | undefined;
  readonly #pieces: readonly (string | Group)[];
  readonly #digits: Digits;

  constructor(pieces: readonly (string | Group)[], digits: Digits) {
    const [first = "", ...more] = pieces;
    this.#pieces = pieces;
    this.#digits = digits;
    this.constant = typeof first === "string" && more.length === 0 ? first : undefined;
    this.#only = typeof first === "object" && more.length === 0 ? first : undefined;
  }

  in(found: Found): string {
    if (this.#only !== undefined) return this.#captured(found, this.#only);
    if (this.constant !== undefined) return this.constant;
    const texts = this.#pieces.map((piece) => (typeof piece === "string" ? piece : this.#captured(found, piece)));
    return texts.join("");
  }

  #captured(found: Found, { group, numbers }: Group): string {
    const text = found[group] ?? "";
    return arePlain(numbers, found) ? text : toValue(parseJson(text, this.#digits, LIMITS)).text;
  }
}

/** The longest number that no limit refuses; how deep a text is nested is the same in all of a form. */
const LIMITS = { max_depth: 512, max_number_length: 40 };

class EntityForm {
  readonly #id: Text;
  readonly #entity: Entity;
  readonly #attributes: readonly AttributeForm[];

  constructor(entity: Entity, parts: Parts) {
    this.#id = parts.text(entity.id);
    this.#entity = entity;
    this.#attributes = entity.attributes.map((attribute) => new AttributeForm(attribute, parts));
  }

  entity(found: Found, ids: Ids): Entity {
    const id = ids.of(this.#id.in(found));
    const { type, api } = this.#entity;
    // A list that grows has room for seventeen.
    const attributes = this.#entity.attributes.slice();
    for (let at = 0; at < attributes.length; at += 1) {
      const form = this.#attributes[at];
      if (form !== undefined) attributes[at] = form.attribute(found);
    }
    return api === undefined ? { id, type, attributes } : { id, type, api, attributes };
  }
}

class AttributeForm {
  readonly #name: string;
  readonly #type: string | undefined;
  readonly #form: Attribute["form"];
  readonly #value: ValueForm;
  readonly #members: MembersForm;
  readonly #others: readonly AttributeForm[] | undefined;

  constructor({ name, type, form, value, members, others }: Attribute, parts: Parts) {
    this.#name = name;
    this.#type = type;
    this.#form = form;
    this.#value = new ValueForm(value, parts);
    this.#members = new MembersForm(members, parts);
    this.#others = others?.map((other) => new AttributeForm(other, parts));
  }

  attribute(found: Found): Attribute {
    const value = this.#value.constant ?? this.#value.value(found);
    const members = this.#members.constant ?? this.#members.members(found);
    const attribute: Attribute =
      this.#type === undefined
        ? { name: this.#name, form: this.#form, value, members }
        : { name: this.#name, type: this.#type, form: this.#form, value, members };
    if (this.#others === undefined) return attribute;
    return { ...attribute, others: this.#others.map((other) => other.attribute(found)) };
  }
}

class ValueForm {
  readonly #kind: Value["kind"];
  readonly #text: Text;
  /** Undefined unless all notifications share it. */
  readonly constant: Value | undefined;

  constructor(value: Value, parts: Parts) {
    this.#kind = value.kind;
    this.#text = parts.text(value.text);
    this.constant = this.#text.constant === undefined ? undefined : Object.freeze(value);
  }

  value(found: Found): Value {
    return { kind: this.#kind, text: this.#text.in(found) };
  }
}

class MembersForm {
  readonly #sent: readonly Member[];
  readonly #members: readonly MemberForm[];
  readonly constant: readonly Member[] | undefined;

  constructor(members: readonly Member[], parts: Parts) {
    this.#sent = members;
    this.#members = members.map((member) => new MemberForm(member, parts));
    const isConstant = this.#members.every((member) => member.constant !== undefined);
    this.constant = isConstant ? Object.freeze(members) : undefined;
  }

  members(found: Found): readonly Member[] {
    const members = this.#sent.slice();
    for (let at = 0; at < members.length; at += 1) {
      const form = this.#members[at];
      if (form !== undefined) members[at] = form.constant ?? form.member(found);
    }
    return members;
  }
}

class MemberForm {
  readonly #name: string;
  readonly #type: string | undefined;
  readonly #value: ValueForm;
  readonly #members: MembersForm | undefined;
  readonly constant: Member | undefined;

  constructor(member: Member, parts: Parts) {
    this.#name = member.name;
    this.#type = member.type;
    this.#value = new ValueForm(member.value, parts);
    this.#members = member.members && new MembersForm(member.members, parts);
    const isConstant = this.#value.constant !== undefined && this.#members?.constant === member.members;
    this.constant = isConstant ? Object.freeze(member) : undefined;
  }

  member(found: Found): Member {
    const value = this.#value.constant ?? this.#value.value(found);
    if (this.#type === undefined) return { name: this.#name, value };
    if (this.#members === undefined) return { name: this.#name, type: this.#type, value };
    const members = this.#members.constant ?? this.#members.members(found);
    return { name: this.#name, type: this.#type, value, members };
  }
}

const MOST_DIGITS = 15;
const MINUS = 0x2d;
const POINT = 0x2e;
const ZERO = 0x30;
const NINE = 0x39;

function arePlain(groups: readonly number[], found: Found): boolean {
  for (let at = 0; at < groups.length; at += 1) if (!isPlain(found[groups[at] ?? 0] ?? "")) return false;
  return true;
}

/** Whether it is a number of JSON that JavaScript writes with the same characters: few digits, no exponent, no zero at the end of a fraction, not near to zero. */
function isPlain(number: string): boolean {
  const { length } = number;
  const first = number.charCodeAt(0) === MINUS ? 1 : 0;
  if (length > MOST_DIGITS || length === first) return false;
  let point = length;
  for (let at = first; at < length; at += 1) {
    const code = number.charCodeAt(at);
    if (code === POINT && point === length) point = at;
    else if (code < ZERO || code > NINE) return false;
  }
  if (number.charCodeAt(first) === ZERO && point !== first + 1) return false;
  if (point === length) return number !== "-0";
  return point > first && point < length - 1 && number.charCodeAt(length - 1) !== ZERO && !number.includes("0.000");
}
