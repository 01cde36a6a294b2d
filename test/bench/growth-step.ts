/** One kind of work that a point of a curve was made to do. */
export interface GrowthStep {
  readonly work: string;
  /** How many of them, in how many seconds. */
  readonly units: number;
  readonly seconds: number;
  readonly memory?: GrowthMemory;
}

/** Bytes of the agent before and after the work. */
export interface GrowthMemory {
  readonly residentBefore: number;
  readonly residentAfter: number;
  /** Used heap and memory outside of it after the garbage was collected; absent where it was not looked for. */
  readonly heapBefore?: number;
  readonly heapAfter?: number;
}
