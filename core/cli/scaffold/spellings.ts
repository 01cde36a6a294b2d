/** `my-sink` as the name of a function: `mySink`. */
export function functionName(name: string): string {
  return name.replaceAll(/-+([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());
}

/** `my-sink` as the name of a type: `MySink`. */
export function typeName(name: string): string {
  const spelt = functionName(name);
  return `${spelt.charAt(0).toUpperCase()}${spelt.slice(1)}`;
}
