import { isDeepStrictEqual } from "node:util";
import type { Notification } from "../model.js";
import { Form, type Ids } from "./form.js";
import { leavesOf, withLeaves } from "./leaves.js";
import { hasMarks, markOf } from "./marks.js";

/** Reads a text by itself. */
export type Read = (text: string) => Notification;

/** Marks have four digits, and each leaf takes memory in the expression. */
const MOST_LEAVES = 500;
/** To that of its entities: these hold on to the text, and channels count what the entities hold. */
const MOST_OF_TEXT = 2;

const asTheyAre: Ids = { of: (id) => id };

/**
 * The form of a text that was read: it is read once more with marks in the places of the leaves, which show where each goes. Undefined if its
 * form cannot be learned, or does not read this text and one with other leaves as they are read by themselves.
 */
export function learnedForm(text: string, read: Read): Form | undefined {
  if (hasMarks(text)) return undefined;
  const leaves = leavesOf(text);
  if (leaves === undefined || leaves.length === 0 || leaves.length > MOST_LEAVES) return undefined;
  try {
    const markedText = withLeaves(text, leaves, markOf);
    const marked = read(markedText);
    if (marked.entities.length === 0) return undefined;
    if (markedText.length > MOST_OF_TEXT * JSON.stringify(marked.entities).length) return undefined;
    const form = new Form(text, leaves, marked);
    const same = withLeaves(text, leaves, ({ isNumber }) => (isNumber ? "7" : "a"));
    return [text, same].every((one) => isDeepStrictEqual(form.read(one, one.length, asTheyAre), read(one)))
      ? form
      : undefined;
  } catch {
    // With marks it is no notification any more, or a leaf is needed in two ways: it is read by itself.
    return undefined;
  }
}
