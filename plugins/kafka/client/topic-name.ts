/** The longest name of a topic in Kafka. */
const LONGEST = 249;

/** Why a text, to which `added` characters are added, is no name of a topic; undefined when it is one. */
export function topicNameFault(text: string, added = 0): string | undefined {
  const longest = LONGEST - added;
  if (/^[\w.-]+$/.test(text) && text !== "." && text !== ".." && text.length <= longest) return undefined;
  return `must be of letters, digits, ".", "_" and "-", at most ${longest} of them`;
}
