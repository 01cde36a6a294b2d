export interface ErrorContent {
  readonly type: string;
  readonly content: string;
}

/** The reason as JSON, or as plain text for a sender that prefers it. */
export function errorContent(reason: string, accept: string | undefined): ErrorContent {
  if (accept !== undefined && quality(accept, "text/plain") > quality(accept, "application/json")) {
    return { type: "text/plain; charset=utf-8", content: `${reason}\n` };
  }
  return { type: "application/json; charset=utf-8", content: JSON.stringify({ error: reason }) };
}

/** The weight that an Accept header gives a media type: that of its most specific range. */
function quality(accept: string, mediaType: string): number {
  const ranges = new Map(accept.toLowerCase().split(",").map(weighted));
  const [group = ""] = mediaType.split("/");
  return ranges.get(mediaType) ?? ranges.get(`${group}/*`) ?? ranges.get("*/*") ?? 0;
}

function weighted(range: string): readonly [string, number] {
  const [name = "", ...parameters] = range.split(";").map((part) => part.trim());
  const weight = parameters.find((parameter) => parameter.startsWith("q="));
  return [name, weight === undefined ? 1 : Number(weight.slice(2))];
}
