/** The versions of the contract that a plugin was made for: one, or from the oldest to the newest. @stable */
export type ApiVersions = number | readonly [oldest: number, newest: number];

/** The range that an `apiVersion` declares; undefined for what is none. An absent one means 1. */
export function apiRange(declared: unknown): readonly [oldest: number, newest: number] | undefined {
  if (declared === undefined) return [1, 1];
  const [oldest, newest, ...more]: readonly unknown[] = Array.isArray(declared) ? declared : [declared, declared];
  if (!isVersion(oldest) || !isVersion(newest) || more.length > 0 || oldest > newest) return undefined;
  return [oldest, newest];
}

function isVersion(value: unknown): value is number {
  return Number.isSafeInteger(value) && Number(value) >= 1;
}
