import { PropertiesEditor } from "properties-file/editor";

/** The text of a properties file with this value; comments and order are kept. A new key is added at the end. */
export function withProperty(text: string, key: string, value: string): string {
  const editor = new PropertiesEditor(text);
  if (editor.update(key, { newValue: value })) return editor.format();
  const added = new PropertiesEditor("");
  added.insert(key, value);
  const lineEnd = text.includes("\r\n") ? "\r\n" : "\n";
  return `${closed(text, lineEnd)}${added.format().trimStart()}${lineEnd}`;
}

/** The text without the key, which may be given more than once. */
export function withoutProperty(text: string, key: string): string {
  const editor = new PropertiesEditor(text);
  while (editor.delete(key, { deleteLeadingNodes: false }) !== undefined);
  return editor.format();
}

/** The text with its last line ended; a backslash at the end would continue it with what is added. */
function closed(text: string, lineEnd: string): string {
  if (/\\\s*$/.test(text.slice(-1000))) return `${text}${lineEnd}${lineEnd}`;
  return text === "" || text.endsWith("\n") ? text : `${text}${lineEnd}`;
}
