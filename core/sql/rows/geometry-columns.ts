import { type Entity, isGeometryAttribute } from "../../ngsi/index.js";
import { widthOf } from "./attribute-columns.js";
import { columnLayoutColumns, type LayoutOptions } from "./layout.js";

/** Finds the columns of an entity that hold geometries. */
export class GeometryColumns {
  /** The last list for each list of columns: entities with the same attributes mostly have the same geometries. */
  readonly #latest = new WeakMap<readonly string[], readonly string[]>();

  /** The same list for the same columns and geometries. */
  columns(columns: readonly string[], entity: Entity, options: LayoutOptions): readonly string[] {
    let found: string[] | undefined;
    let at: number = columnLayoutColumns[entity.api ?? "ld"].length;
    for (const attribute of entity.attributes) {
      const column = columns[at];
      at += widthOf(attribute, entity, options);
      if (column === undefined || !isGeometryAttribute(attribute)) continue;
      if (found === undefined) found = [column];
      else found.push(column);
    }
    if (found === undefined) return none;
    const all: readonly string[] = found;
    const latest = this.#latest.get(columns);
    if (latest?.length === all.length && latest.every((column, index) => column === all[index])) return latest;
    this.#latest.set(columns, all);
    return all;
  }
}

const none: readonly string[] = [];
