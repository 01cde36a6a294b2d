/** A text or a number of a JSON text that may be another one in the next notification of the same form. */
export interface Leaf {
  /** Of its characters, for a text without the quotes. */
  readonly start: number;
  readonly end: number;
  readonly isNumber: boolean;
}

/**
 * The members whose texts and numbers decide how a notification is read: by them an attribute is known, instances are put in
 * order, and NGSI-LD and NGSI v2 are distinguished.
 */
const deciding: ReadonlySet<string> = new Set(["type", "@context", "datasetId", "subscriptionId"]);

const TOKENS = /"(?:[^"\\]|\\.)*"|[{}[\],]|[^\s{}[\],:"]+/gs;
const NUMBER = /^-?\d/;

/** An object or list that is open. */
interface Level {
  readonly isObject: boolean;
  /** Whether what stands in it decides. */
  readonly isDeciding: boolean;
  /** Of the member whose value follows; undefined where a name follows. */
  name: string | undefined;
}

/**
 * The leaves of a valid JSON text, in its order, but for those of members that decide how it is read, and empty texts.
 * Undefined if one of them has escaped characters.
 */
export function leavesOf(text: string): readonly Leaf[] | undefined {
  const leaves: Leaf[] = [];
  const levels: Level[] = [{ isObject: false, isDeciding: false, name: undefined }];
  for (const { 0: token, index } of text.matchAll(TOKENS)) {
    if (isOfStructure(token, levels)) continue;
    const leaf = leafOf(token, index);
    if (leaf === undefined || isDeciding(levels)) continue;
    if (token.includes("\\")) return undefined;
    leaves.push(leaf);
  }
  return leaves;
}

function isDeciding(levels: readonly Level[]): boolean {
  const level = levels.at(-1);
  return level?.isDeciding === true || (level?.name !== undefined && deciding.has(level.name));
}

/** Opens and closes levels, and notes the names of members. False for the value of a member or an element of a list. */
function isOfStructure(token: string, levels: Level[]): boolean {
  const level = levels.at(-1);
  if (token === "{" || token === "[") {
    levels.push({ isObject: token === "{", isDeciding: isDeciding(levels), name: undefined });
  } else if (token === "}" || token === "]") {
    levels.pop();
  } else if (level?.isObject === true && (token === "," || level.name === undefined)) {
    level.name = token === "," ? undefined : nameIn(token);
  } else {
    return token === ",";
  }
  return true;
}

/** A name may be written with escaped characters, such as those that are not ASCII. */
function nameIn(token: string): string {
  return token.includes("\\") ? JSON.parse(token) : token.slice(1, -1);
}

function leafOf(token: string, index: number): Leaf | undefined {
  if (NUMBER.test(token)) return { start: index, end: index + token.length, isNumber: true };
  if (!token.startsWith('"') || token === '""') return undefined;
  return { start: index + 1, end: index + token.length - 1, isNumber: false };
}

/** The text with another one in the place of each leaf. */
export function withLeaves(
  text: string,
  leaves: readonly Leaf[],
  other: (leaf: Leaf, index: number) => string,
): string {
  let made = "";
  let end = 0;
  leaves.forEach((leaf, index) => {
    made += text.slice(end, leaf.start) + other(leaf, index);
    end = leaf.end;
  });
  return made + text.slice(end);
}
