import { Component, type ComponentChildren } from "preact";
import { Notice } from "./small.js";

interface BoundaryState {
  readonly failure?: string;
}

/** Keeps an error of one view from the rest of the page. */
export class ViewBoundary extends Component<{ readonly children: ComponentChildren }, BoundaryState> {
  override state: BoundaryState = {};

  override componentDidCatch(error: unknown): void {
    this.setState({ failure: error instanceof Error ? error.message : String(error) });
  }

  override render() {
    const { failure } = this.state;
    if (failure === undefined) return <>{this.props.children}</>;
    return <Notice kind="bad">This view cannot be shown: {failure}</Notice>;
  }
}
