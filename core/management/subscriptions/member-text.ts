import { closingQuote } from "../../ngsi/values/closing-quote.js";

/**
 * The text of a member of an object, byte for byte: reading it as JSON and writing it again would change large numbers
 * and the order of numeric names. `text` is a valid JSON object; of several members of a name the last counts.
 */
export function memberText(text: string, name: string): string | undefined {
  let found: string | undefined;
  let end = 0;
  for (let quote = text.indexOf('"'); quote !== -1; quote = text.indexOf('"', end)) {
    const close = closingQuote(text, quote);
    const colon = text.indexOf(":", close);
    end = endOfValue(text, colon + 1);
    if (JSON.parse(text.slice(quote, close + 1)) === name) found = text.slice(colon + 1, end).trim();
  }
  return found;
}

/** Where the comma or the brace behind a value is. */
function endOfValue(text: string, start: number): number {
  let depth = 0;
  for (let at = start; at < text.length; at += 1) {
    const character = text.charAt(at);
    if (character === '"') at = closingQuote(text, at);
    else if (depth === 0 && /[,}]/.test(character)) return at;
    else if (/[{[]/.test(character)) depth += 1;
    else if (/[}\]]/.test(character)) depth -= 1;
  }
  return text.length;
}
