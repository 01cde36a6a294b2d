import type { Leaf } from "./leaves.js";

// ASCII, so that what is cut out of a marked text takes a byte for each character.
const TEXT = "\x7f";
const NUMBER = "90000000000";
const DIGITS = 4;

const MARK = new RegExp(`(?:${TEXT}|${NUMBER})(\\d{${DIGITS}})`, "g");

/** Whether the text has characters that would be mistaken for marks. */
export function hasMarks(text: string): boolean {
  return text.includes(TEXT) || text.includes(NUMBER);
}

/** What stands in the place of a leaf to see where it goes. */
export function markOf({ isNumber }: Leaf, index: number): string {
  return (isNumber ? NUMBER : TEXT) + String(index).padStart(DIGITS, "0");
}

/** A marked text in pieces: what is between the marks, and the numbers of the leaves. */
export function piecesOf(marked: string): readonly (string | number)[] {
  const pieces: (string | number)[] = [];
  let end = 0;
  for (const { 0: mark, 1: digits, index } of marked.matchAll(MARK)) {
    if (index > end) pieces.push(marked.slice(end, index));
    pieces.push(Number(digits));
    end = index + mark.length;
  }
  if (end < marked.length) pieces.push(marked.slice(end));
  return pieces;
}
