/** One thing that a component has to do. `run` rejects when it does not. */
export interface ConformanceCase {
  readonly name: string;
  run(): Promise<void>;
}
