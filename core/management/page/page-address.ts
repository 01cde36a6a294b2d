/** The path of the page, with the slash that makes its relative addresses right. */
export const folder = "/ui/";

/** True for the addresses that a person opens; the page has its views behind `#`. */
export function isPageAddress(path: string): boolean {
  return path === folder || path === "/ui";
}
