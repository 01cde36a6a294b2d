import { isUtf8 } from "node:buffer";
import { AgentError } from "../../sdk/index.js";

/** The text of a properties file. */
export interface DecodedFile {
  readonly text: string;
  /** The same as ISO 8859-1, where the bytes are no UTF-8. */
  readonly latin1?: string;
}

/**
 * Reads bytes as UTF-8, or as UTF-16 after its byte order mark; a byte order mark is no part of the text. Throws code
 * `NOT_A_TEXT_FILE` for a program, an archive, a database or a picture.
 */
export function decodeFile(bytes: Uint8Array): DecodedFile {
  const marked = utf16.find(({ mark }) => mark.every((byte, at) => bytes[at] === byte));
  if (marked !== undefined) return { text: new TextDecoder(marked.name).decode(bytes) };
  const at = binaryAt(bytes);
  if (at !== undefined) throw notText(at, bytes);
  const text = new TextDecoder("utf-8").decode(bytes);
  return isUtf8(bytes) ? { text } : { text, latin1: Buffer.from(bytes).toString("latin1") };
}

const utf16 = [
  { name: "utf-16le", mark: [0xff, 0xfe] },
  { name: "utf-16be", mark: [0xfe, 0xff] },
] as const;

/** How much of a file is looked at. */
const LOOKED_AT = 65_536;
/** Control characters that texts hold: tab, line feed, vertical tab, form feed, carriage return, end of file, escape. */
const IN_TEXTS: ReadonlySet<number> = new Set([0x09, 0x0a, 0x0b, 0x0c, 0x0d, 0x1a, 0x1b]);
const MOST_CONTROLS = 0.02;

/** The offset of the first byte that no text holds, in a file that is none. */
function binaryAt(bytes: Uint8Array): number | undefined {
  const start = bytes.subarray(0, LOOKED_AT);
  const zero = start.indexOf(0);
  if (zero !== -1) return zero;
  const isControl = (byte: number) => byte < 0x20 && !IN_TEXTS.has(byte);
  const controls = start.reduce((sum, byte) => (isControl(byte) ? sum + 1 : sum), 0);
  return controls > start.length * MOST_CONTROLS ? start.findIndex(isControl) : undefined;
}

function notText(at: number, bytes: Uint8Array): AgentError {
  const byte = (bytes[at] ?? 0).toString(16).padStart(2, "0");
  const message = `it is not a text file: byte ${at} is 0x${byte}; give a properties file, saved as UTF-8`;
  return new AgentError("NOT_A_TEXT_FILE", message, { retryable: false });
}
