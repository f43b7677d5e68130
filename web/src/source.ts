// The source in CodeMirror: read-only, the line about to run marked, how often each line ran in the gutter.

import { python } from "@codemirror/lang-python";
import { HighlightStyle, forceParsing, syntaxHighlighting } from "@codemirror/language";
import { Compartment, EditorState, StateEffect, StateField, type Extension } from "@codemirror/state";
import { Decoration, EditorView, GutterMarker, WidgetType, drawSelection, gutter, highlightSpecialChars, lineNumbers, type DecorationSet } from "@codemirror/view";
import { tags } from "@lezer/highlight";
import { unitOf } from "./columns";
import { escape } from "./text";

const HIGHLIGHT = HighlightStyle.define([
  { tag: [tags.keyword, tags.operatorKeyword, tags.modifier], color: "var(--keyword)" },
  { tag: [tags.string, tags.special(tags.string)], color: "var(--string)" },
  { tag: [tags.number, tags.bool, tags.null], color: "var(--number)" },
  { tag: tags.comment, color: "var(--soft)", fontStyle: "italic" },
  { tag: [tags.function(tags.definition(tags.variableName)), tags.definition(tags.className)], color: "var(--defined)", fontWeight: "600" },
]);

export interface Marks {
  /** The line of the shown frame. */
  line: number;
  /** How the event stands to it: about to run, raised, left. */
  look: "line" | "raise" | "leave" | "calling";
  /** Lines of the other frames in this file. */
  others: number[];
  /** The call that the shown frame waits for: line, column, end line, end column. */
  call: [number, number, number, number] | null;
  /** What happens at the line, in words, and the line that just ran. */
  says?: string;
  before?: number;
  /** Of lines: the values that they wrote. */
  values?: ReadonlyMap<number, string>;
}

/** Words at the end of a line, which are not of the program. */
class Note extends WidgetType {
  constructor(
    private readonly text: string,
    private readonly look: string,
  ) {
    super();
  }
  override eq(other: Note): boolean {
    return this.text === other.text && this.look === other.look;
  }
  override toDOM(): HTMLElement {
    const made = document.createElement("span");
    made.className = `note-${this.look}`;
    made.textContent = this.text;
    return made;
  }
}

const setMarks = StateEffect.define<Marks>();

function decorations(state: EditorState, marks: Marks): DecorationSet {
  const made: { at: number; to: number; decoration: Decoration }[] = [];
  const fits = (line: number) => line >= 1 && line <= state.doc.lines;
  for (const line of new Set(marks.others)) {
    if (fits(line) && line !== marks.line) made.push({ at: state.doc.line(line).from, to: -1, decoration: Decoration.line({ class: "other-line" }) });
  }
  if (fits(marks.line)) {
    made.push({ at: state.doc.line(marks.line).from, to: -1, decoration: Decoration.line({ class: `current-line ${marks.look}` }) });
  }
  if (marks.call && fits(marks.call[0]) && fits(marks.call[2])) {
    const [first, last] = [state.doc.line(marks.call[0]), state.doc.line(marks.call[2])];
    const at = first.from + unitOf(first.text, marks.call[1]);
    const to = last.from + unitOf(last.text, marks.call[3]);
    if (at < to) made.push({ at, to, decoration: Decoration.mark({ class: "call-mark" }) });
  }
  const note = (line: number, text: string, look: string, side: number) => {
    if (fits(line)) made.push({ at: state.doc.line(line).to, to: state.doc.line(line).to, decoration: Decoration.widget({ widget: new Note(text, look), side }) });
  };
  for (const [line, text] of marks.values ?? []) note(line, text, "values", 1);
  if (marks.before !== undefined && marks.before !== marks.line) note(marks.before, "just ran", "before", 2);
  if (marks.says) note(marks.line, marks.before === marks.line ? `just ran, and ${marks.says}` : marks.says, `now ${marks.look}`, 2);
  return Decoration.set(
    made.map(({ at, to, decoration }) => decoration.range(at, to < 0 ? at : to)),
    true,
  );
}

const marked = StateField.define<DecorationSet>({
  create: () => Decoration.none,
  update(value, transaction) {
    for (const effect of transaction.effects) if (effect.is(setMarks)) return decorations(transaction.state, effect.value);
    return value;
  },
  provide: (field) => EditorView.decorations.from(field),
});

class Count extends GutterMarker {
  constructor(private readonly count: number) {
    super();
  }
  override eq(other: Count): boolean {
    return this.count === other.count;
  }
  override toDOM(): Node {
    return document.createTextNode(this.count > 9999 ? `${Math.round(this.count / 1000)}k×` : `${this.count}×`);
  }
}

export class Source {
  private readonly view: EditorView;
  private readonly counted = new Compartment();
  private counts: ReadonlyMap<number, number> = new Map();

  /** onLine: what a click on a line's number does; without it the lines' visits are not counted beside them. */
  constructor(
    parent: HTMLElement,
    private readonly onLine?: (line: number, backwards: boolean) => void,
  ) {
    const nonce = document.querySelector<HTMLStyleElement>("style[nonce]")?.nonce;
    this.view = new EditorView({
      parent,
      state: EditorState.create({
        extensions: [
          ...(nonce ? [EditorView.cspNonce.of(nonce)] : []),
          lineNumbers({ domEventHandlers: this.jump }),
          this.counted.of(this.visits()),
          highlightSpecialChars({
            addSpecialChars: /[\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff\u00ad\u061c\ud800-\udfff]/g,
            render: (code) => {
              const shown = document.createElement("span");
              shown.className = "cm-specialChar";
              shown.textContent = escape(String.fromCodePoint(code));
              return shown;
            },
          }),
          drawSelection(),
          EditorView.lineWrapping,
          python(),
          syntaxHighlighting(HIGHLIGHT),
          EditorState.readOnly.of(true),
          EditorView.editable.of(false),
          EditorView.contentAttributes.of({ "aria-label": "source", tabindex: "0", "aria-readonly": "true" }),
          marked,
        ],
      }),
    });
    this.observer.observe(this.view.scrollDOM);
  }

  private readonly jump = {
    mousedown: (view: EditorView, block: { from: number }, event: Event) => {
      this.onLine?.(view.state.doc.lineAt(block.from).number, (event as MouseEvent).shiftKey);
      return true;
    },
  };

  private visits(): Extension {
    if (!this.onLine) return [];
    return gutter({
      class: "visits",
      lineMarker: (view, block) => {
        const count = this.counts.get(view.state.doc.lineAt(block.from).number);
        return count ? new Count(count) : null;
      },
      initialSpacer: () => new Count(99),
      domEventHandlers: this.jump,
    });
  }

  show(text: string, counts: ReadonlyMap<number, number> = new Map()): void {
    this.counts = counts;
    this.view.dispatch({
      changes: { from: 0, to: this.view.state.doc.length, insert: text.replace(/\n$/, "") }, // an end is no line
      effects: this.counted.reconfigure(this.visits()),
    });
    forceParsing(this.view, Math.min(text.length, 50_000), 100); // else colours wait until the browser is idle
  }

  mark(marks: Marks): void {
    this.view.dispatch({ effects: setMarks.of(marks) });
    this.marked = marks.line;
    this.reveal();
  }

  private marked = -1;
  private readonly observer = new ResizeObserver(() => this.reveal());

  /** Scrolls to the marked line, if it is not in view. */
  private reveal(): void {
    const { doc } = this.view.state;
    if (this.marked < 1 || this.marked > doc.lines) return;
    const { from } = doc.line(this.marked);
    const scroller = this.view.scrollDOM;
    const wanted = () => {
      const box = this.view.lineBlockAt(from);
      const { scrollTop, clientHeight } = scroller;
      return box.top < scrollTop + 30 || box.bottom > scrollTop + clientHeight - 30 ? box.top - (clientHeight - box.height) / 2 : null;
    };
    // Only the editor scrolls: the page around it stays. Once more when the heights of lines are known.
    const scroll = (top: number | null) => top !== null && (scroller.scrollTop = top);
    scroll(wanted());
    this.view.requestMeasure({ key: this, read: wanted, write: scroll });
  }

  destroy(): void {
    this.observer.disconnect();
    this.view.destroy();
  }
}
