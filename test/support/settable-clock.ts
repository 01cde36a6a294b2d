/** A clock that stands until it is moved. */
export function settableClock() {
  let now = new Date("2026-01-15T10:20:30.000Z");
  return {
    now: () => now,
    pass: (seconds: number) => {
      now = new Date(now.getTime() + seconds * 1000);
    },
  };
}
