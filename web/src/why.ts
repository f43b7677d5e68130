// Why a variable has its value: a walk through the graph of view/queries/causes.py, as `deskcheck why` does it.

import type { Variable } from "./search";

export interface Causes {
  /** Of a variable: events that changed it, with the node of that change. */
  slots: Record<string, [number, number][]>;
  /** What is said after the name, the event, and the values that the line read. */
  nodes: [string, number | null, [string, number][]][];
}

export interface Step {
  depth: number;
  name: string;
  text: string;
  event: number | null;
}

export const WHY_STEPS = 10;

/** The steps as an indented tree; more: values that were read and are not followed. */
export function why(causes: Causes, { name, frame, file }: Variable, at: number): { steps: Step[]; more: number } {
  const changes = causes.slots[frame === null ? `global ${file} ${name}` : `local ${frame} ${name}`] ?? [];
  const root = changes.findLast(([event]) => event <= at);
  if (!root) return { steps: [], more: 0 };
  const queue: [string, number, number | null][] = [[name, root[1], null]];
  const made: { name: string; node: number; parent: number | null }[] = [];
  const visited = new Set<number>();
  while (queue.length && made.length < WHY_STEPS) {
    const [expression, node, parent] = queue.shift()!;
    if (visited.has(node)) continue;
    visited.add(node);
    for (const [read, further] of causes.nodes[node]![2]) queue.push([read, further, made.length]);
    made.push({ name: expression, node, parent });
  }
  const steps: Step[] = [];
  const tree = (parent: number | null, depth: number) => {
    made.forEach((one, number) => {
      if (one.parent !== parent) return;
      const [text, event] = causes.nodes[one.node]!;
      steps.push({ depth, name: one.name, text, event });
      tree(number, depth + 1);
    });
  };
  tree(null, 0);
  return { steps, more: new Set(queue.map((query) => query.join("\n"))).size };
}
