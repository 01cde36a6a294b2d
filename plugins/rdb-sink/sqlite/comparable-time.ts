/**
 * A time that can be compared, of ISO 8601 with any zone; what SQLite cannot parse is compared as text. SQLite knows no more than
 * milliseconds, and rounds to them: the fraction is added as it was given.
 */
export function timeOf(column: string): string {
  const point = `instr(${column}, '.')`;
  const zone = `ltrim(substr(${column}, ${point} + 1), '0123456789')`;
  const whole = `iif(${point} = 0, ${column}, substr(${column}, 1, ${point} - 1) || ${zone})`;
  const fraction = `iif(${point} = 0, 0, CAST('0' || substr(${column}, ${point}) AS REAL))`;
  return `coalesce(strftime('%Y-%m-%d %H:%M:%S', ${whole}) || substr(printf('%.9f', ${fraction}), 2), ${column})`;
}
