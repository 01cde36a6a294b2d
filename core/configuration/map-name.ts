const SUFFIX = ".*";

/** What stands before the entries of a map in a file: the map `storages.*` is written `storages.<entry>`. */
export function mapPrefix(property: string): string {
  return sharesItsName(property) ? property.slice(0, -SUFFIX.length) : property;
}

/** True when the name before the entries is another property. */
export function sharesItsName(property: string): boolean {
  return property.endsWith(SUFFIX);
}
