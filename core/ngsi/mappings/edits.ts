import { MATCH_ALL, type MappingNode, mappingLevels } from "./document.js";

/** Applies the given mappings to the existing ones; neither list is changed. */
export type MappingEdit = (there: readonly MappingNode[], given: readonly MappingNode[]) => readonly MappingNode[];

/** Adds absent mappings with everything below them. Existing ones keep their new names. */
export const addMappings: MappingEdit = (there, given) => added(there, given, 0);

/** Gives existing mappings the given new names. Adds nothing. */
export const updateMappings: MappingEdit = (there, given) => updated(there, given, 0);

/** Removes existing mappings: one given without mappings below it with everything below it, else only those below it. */
export const removeMappings: MappingEdit = (there, given) => removed(there, given, 0);

function added(there: readonly MappingNode[], given: readonly MappingNode[], depth: number): readonly MappingNode[] {
  return edited(there, given, depth, (node, wanted) => {
    if (node === undefined) return wanted;
    if (wanted.children === undefined) return node;
    return { ...node, children: added(node.children ?? [], wanted.children, depth + 1) };
  });
}

function updated(there: readonly MappingNode[], given: readonly MappingNode[], depth: number): readonly MappingNode[] {
  return edited(there, given, depth, (node, wanted) => {
    if (node === undefined) return undefined;
    const news = (mappingLevels[depth]?.news ?? []).flatMap((name) => {
      const text = wanted.texts.get(name);
      return text === undefined ? [] : [[name, text] as const];
    });
    const children = node.children && wanted.children && updated(node.children, wanted.children, depth + 1);
    return { texts: new Map([...node.texts, ...news]), children: children ?? node.children };
  });
}

function removed(there: readonly MappingNode[], given: readonly MappingNode[], depth: number): readonly MappingNode[] {
  return edited(there, given, depth, (node, wanted) => {
    if (node === undefined || wanted.children === undefined || wanted.children.length === 0) return undefined;
    return { ...node, children: node.children && removed(node.children, wanted.children, depth + 1) };
  });
}

type Step = (node: MappingNode | undefined, wanted: MappingNode) => MappingNode | undefined;

/** Applies a step to each given mapping and the one of the same original names, the first of several. */
function edited(
  there: readonly MappingNode[],
  given: readonly MappingNode[],
  depth: number,
  step: Step,
): readonly MappingNode[] {
  const nodes: (MappingNode | undefined)[] = [...there];
  const places = new Map(there.map((node, index) => [identity(node, depth), index] as const).reverse());
  for (const wanted of given) {
    const key = identity(wanted, depth);
    const place = places.get(key);
    const result = step(place === undefined ? undefined : nodes[place], wanted);
    if (place !== undefined) nodes[place] = result;
    else if (result !== undefined) places.set(key, nodes.push(result) - 1);
  }
  return nodes.filter((node) => node !== undefined);
}

function identity({ texts }: MappingNode, depth: number): string {
  return JSON.stringify((mappingLevels[depth]?.originals ?? []).map((name) => texts.get(name) ?? MATCH_ALL));
}
