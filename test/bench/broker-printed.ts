const INDENT = "  ";

/** JSON text as Jackson prints it, and with it Scorpio: blanks around the colon, objects over lines, lists in one. */
export function brokerPrinted(json: unknown, level = 0): string {
  if (Array.isArray(json)) {
    return json.length === 0 ? "[ ]" : `[ ${json.map((item) => brokerPrinted(item, level)).join(", ")} ]`;
  }
  if (typeof json !== "object" || json === null) return JSON.stringify(json);
  const members = Object.entries(json);
  if (members.length === 0) return "{ }";
  const lines = members.map(
    ([name, value]) => `${INDENT.repeat(level + 1)}${JSON.stringify(name)} : ${brokerPrinted(value, level + 1)}`,
  );
  return `{\n${lines.join(",\n")}\n${INDENT.repeat(level)}}`;
}
