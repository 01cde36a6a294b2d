/** JSON as Scorpio prints it: a member a line, a blank before the colon, lists on the line that they begin in. */
export function scorpioText(value: unknown): string {
  return textAt(value, "\n");
}

function textAt(value: unknown, line: string): string {
  if (Array.isArray(value)) {
    return value.length === 0 ? "[ ]" : `[ ${value.map((item) => textAt(item, line)).join(", ")} ]`;
  }
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  const inner = `${line}  `;
  const members = Object.entries(value).map(([name, member]) => `${JSON.stringify(name)} : ${textAt(member, inner)}`);
  return members.length === 0 ? "{ }" : `{${inner}${members.join(`,${inner}`)}${line}}`;
}
