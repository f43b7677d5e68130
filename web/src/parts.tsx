// Parts of the pages that are read like a document: a header, tables, texts that fold away.

import type { ComponentChildren, JSX } from "preact";
import { Controls, useKeys } from "./stepping";
import { visible } from "./text";
import { useTheme } from "./theme";

/** The whole page: its title with the control of the theme, and what is below. */
export function Document({ title, children }: { title: string; children: ComponentChildren }): JSX.Element {
  const [theme, nextTheme] = useTheme();
  useKeys({ t: nextTheme });
  return (
    <>
      <header>
        <h1>
          <bdi>{visible(title)}</bdi>
        </h1>
        <Controls theme={theme} next={nextTheme} />
      </header>
      <main class="document">{children}</main>
    </>
  );
}

/** A table whose first column is text and whose others are numbers. upright: the names of the columns are written upwards. */
export function Table({ heads, rows, upright = false }: { heads: string[]; rows: ComponentChildren[][]; upright?: boolean }): JSX.Element {
  const kind = (column: number) => (column ? "n" : "");
  return (
    <div class="wide">
      <table class={upright ? "upright" : ""}>
        <thead>
          <tr>
            {heads.map((head, column) => (
              <th key={column} scope="col" class={kind(column)}>
                {head}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row, number) => (
            <tr key={number}>
              {row.map((cell, column) => (
                <td key={column} class={kind(column)}>
                  {typeof cell === "string" ? <bdi>{visible(cell)}</bdi> : cell}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

/** A text of a program, a model or a notebook, which keys can scroll. */
export function Preformatted({ label, text, lines = true }: { label: string; text: string; lines?: boolean }): JSX.Element {
  return (
    <pre tabIndex={0} role="group" aria-label={label}>
      {visible(text, lines)}
    </pre>
  );
}

export function Folded({ summary, children }: { summary: ComponentChildren; children: ComponentChildren }): JSX.Element {
  return (
    <details>
      <summary>{summary}</summary>
      {children}
    </details>
  );
}

/** As "1 function", "2 functions". */
export function counted(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? "" : "s"}`;
}

/** [["name", 3], ...] of an object, in the order in which it was written. */
export function total(counts: Record<string, number>): number {
  return Object.values(counts).reduce((sum, count) => sum + count, 0);
}
