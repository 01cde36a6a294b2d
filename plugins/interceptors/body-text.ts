import { isEntity, type Value } from "deneb/ngsi";

/**
 * The text in which expressions are looked for: the entity as compact JSON with the bare value of each attribute, in the
 * order of the notification; of another body its JSON.
 */
export function bodyText(body: unknown): string {
  if (!isEntity(body)) return JSON.stringify(body) ?? "";
  const { id, type, attributes } = body;
  const members = [
    ["id", JSON.stringify(id)],
    ["type", JSON.stringify(type)],
    ...attributes.map(({ name, value }) => [name, valueText(value)]),
  ];
  return `{${members.map(([name, text]) => `${JSON.stringify(name)}:${text}`).join(",")}}`;
}

function valueText({ kind, text }: Value): string {
  return kind === "string" ? JSON.stringify(text) : text;
}
