/**
 * Whether so much time has passed since `at`, undefined for never, by a clock that may be set. A clock that was set back does not
 * say how much has passed: then it counts as enough, and nothing waits for as long as the clock was set back.
 */
export function hasPassed(millis: number, at: number | undefined, now: number): boolean {
  return at === undefined || now < at || now - at >= millis;
}
