/** The capitals that MySQL and MariaDB know in names of columns: those of an early Unicode. */
const CAPITALS =
  /[A-Z\u00c0-\u021f\u0222-\u0233\u0386-\u03ab\u03da-\u03ef\u0400-\u0481\u048c-\u04bf\u04c1-\u04c4\u04c7\u04cb\u04d0-\u04f5\u04f8\u0531-\u0556\u1e00-\u1e95\u1ea0-\u1ef9\u1f08-\u1fff\u2126\u212a\u212b\u2160-\u216f\u24b6-\u24cf\uff21-\uff3a]/g;

/**
 * The same text for names that MySQL takes for one column. It looks at each character alone, so the sigma of `ΟΔΟΣ` is not the
 * one at the end of `οδος`, and the dotted capital I is `i`.
 */
export function mysqlKey(column: string): string {
  return column.replace(CAPITALS, (letter) => (letter === "İ" ? "i" : letter.toLowerCase()));
}
