import { options } from "preact";

/**
 * Characters that nobody sees, or that change how the text beside them is read: control characters, those that change the
 * direction of text, separators of lines, and blanks without width.
 */
const unseen = /[^\P{Cc}\n\t]|[\p{Bidi_Control}\u00ad\u200b\u2028\u2029\u2060-\u2064\ufeff]/gu;
/** More than eight marks on one letter: they cover other lines. */
const tooManyMarks = /(\p{M}{8})\p{M}+/gu;
const plain = /^[\x20-\x7e\n\t]*$/;

/** The text with such characters written as JSON writes them, and at most eight marks on a letter. */
export function visible(text: string): string {
  if (plain.test(text)) return text;
  return text.replace(unseen, escaped).replace(tooManyMarks, "$1…");
}

function escaped(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;
}

/** Attributes of elements that are read as text. */
const readAttributes = ["title", "aria-label"] as const;

/**
 * From now on all text of the page is visible: ids, names and messages come from anyone who sends a notification, and what a
 * reader drops, replays or searches must be what it looks like. Values of fields and of calls stay as they are.
 */
export function showUnseen(): void {
  const before = options.vnode;
  options.vnode = (node) => {
    const { type, props }: { readonly type: unknown; readonly props: unknown } = node;
    // The node of a text has the text in place of properties.
    if (typeof props === "string") Reflect.set(node, "props", visible(props));
    else if (typeof type === "string") for (const name of readAttributes) showAttribute(node.props, name);
    before?.(node);
  };
}

function showAttribute(props: object, name: string): void {
  const text: unknown = Reflect.get(props, name);
  if (typeof text === "string") Reflect.set(props, name, visible(text));
}
