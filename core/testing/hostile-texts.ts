/** Texts that break a sink which puts them into a statement, a path or a format by hand. */
export const hostileValues: readonly HostileText[] = [
  { says: "a quote and a statement", text: `'); DROP TABLE "mark"; --` },
  { says: "a backslash and a double quote", text: `\\"\\\\'` },
  { says: "a line break, a tab and a trailing blank", text: "a\r\n\tb " },
  { says: "text beyond the basic plane", text: "𝒟eneb 🌌 ñ 漢字 é" },
  { says: "nothing at all", text: "" },
  { says: "text that looks like a number", text: "00012.50" },
  { says: "text that looks like JSON", text: '{"a":[1,null]}' },
  { says: "a long text", text: "0123456789".repeat(2000) },
  { says: "a format directive", text: "%s %I $1 ? ?1 :name @p1" },
];

export const hostileNames: readonly HostileText[] = [
  { says: "a quote and a statement", text: `x"; DROP SCHEMA public; --'` },
  { says: "a path", text: "../../etc/passwd" },
  { says: "a reserved word", text: "select" },
  { says: "capitals, blanks and dots", text: "A b.C" },
  { says: "text beyond ASCII", text: "naïve_漢字_🌌" },
  { says: "a long name", text: "n".repeat(120) },
  { says: "the name of a prototype", text: "__proto__" },
];

export interface HostileText {
  readonly says: string;
  readonly text: string;
}
