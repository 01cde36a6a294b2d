import { isUtf8 } from "node:buffer";

/** The text of a properties file. */
export interface DecodedFile {
  readonly text: string;
  /** The same as ISO 8859-1, where the bytes are no UTF-8. */
  readonly latin1?: string;
}

/** Reads bytes as UTF-8, or as UTF-16 after its byte order mark; a byte order mark is no part of the text. */
export function decodeFile(bytes: Uint8Array): DecodedFile {
  const marked = utf16.find(({ mark }) => mark.every((byte, at) => bytes[at] === byte));
  if (marked !== undefined) return { text: new TextDecoder(marked.name).decode(bytes) };
  const text = new TextDecoder("utf-8").decode(bytes);
  return isUtf8(bytes) ? { text } : { text, latin1: Buffer.from(bytes).toString("latin1") };
}

const utf16 = [
  { name: "utf-16le", mark: [0xff, 0xfe] },
  { name: "utf-16be", mark: [0xfe, 0xff] },
] as const;
