import { options } from "preact";
import { visible } from "./visible.js";

/** Attributes of elements that are read as text. */
const readAttributes = ["title", "aria-label"] as const;

/**
 * From now on all text of the page is visible: ids, names and messages come from anyone who sends a notification, and what a
 * reader drops, replays or searches must be what it looks like. Values of fields and of calls stay as they are.
 */
export function showUnseen(): void {
  const before = options.vnode;
  options.vnode = (node) => {
    const { type, props }: { readonly type: unknown; readonly props: unknown } = node;
    // The node of a text has the text in place of properties.
    if (typeof props === "string") Reflect.set(node, "props", visible(props));
    else if (typeof type === "string") for (const name of readAttributes) showAttribute(node.props, name);
    before?.(node);
  };
}

function showAttribute(props: object, name: string): void {
  const text: unknown = Reflect.get(props, name);
  if (typeof text === "string") Reflect.set(props, name, visible(text));
}
