// The trace page: steps through a recording.

import "./base.css";
import "./page.css";
import { render, type JSX } from "preact";
import { useCallback, useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { store } from "./load";
import { Cut, Memory, writtenValues } from "./memory";
import * as moves from "./moves";
import type { Way } from "./moves";
import { change, search, type Found, type Variable } from "./search";
import { Source, type Marks } from "./source";
import { Controls, Help, Move, NAMING_MS, named, useKeys } from "./stepping";
import { beginning, short, stringText, visible } from "./text";
import { useTheme } from "./theme";
import { Timeline } from "./timeline";
import { why, WHY_STEPS, type Step } from "./why";
import { Columns, Trace, type Facts, type Moment, type Row } from "./trace";

const FOUND = 200;
const GAPS: Record<string, string> = { deep: "deeper calls", repeated: "repetitions", called: "calls in them" };
const MISSING: Record<string, string> = {
  events: "the limit on events was reached",
  recursion: "the limit on recursion was near",
  untraced: "the program removed the trace function",
  subinterpreters: "the program started a subinterpreter",
  failure: "the tracer failed",
  ended: "the process had ended",
};

const KEYS: [string, string][] = [
  ["→ or n", "step forward"],
  ["← or p", "step back"],
  ["Shift → or o", "step over calls"],
  ["Shift ← or b", "step back over calls"],
  ["u", "out of the frame"],
  ["Shift u", "back to the calling frame"],
  ["Home, End", "first and last event"],
  ["PgUp, PgDn", "a hundred events"],
  ["e, Shift e", "next and previous exception"],
  ["w, Shift w", "next and previous output"],
  ["y", "why the watched variable has its value"],
  ["v, Shift v", "next and previous change of the watched variable"],
  [". and ,", "next and previous visit of the line"],
  ["[ and ]", "show the calling frame, and back"],
  ["+ and −", "zoom the timeline; with a double click on a call, show it alone"],
  ["< and >", "move the timeline"],
  ["i", "with and without instructions"],
  ["g", "go to an event"],
  ["/", "search; Enter, ↓ and ↑ go through the results"],
  ["t", "light, dark, or like the system"],
  ["?", "this help"],
  ["Esc", "close, stop searching"],
];

function told(row: Row, moment: Moment): string {
  const name = visible(row.function);
  const value = row.value === undefined ? "" : short(row.value, moment.state.objects, 80);
  switch (row.kind) {
    case "call":
      return `${name} is called`;
    case "line":
      return `line ${row.line} of ${name} is about to run`;
    case "return":
      return `${name} returns ${value}`;
    case "yield":
      return `${name} yields ${value}`;
    case "resume":
      return row.value === null ? `${name} resumes` : `${name} resumes with the sent value ${value}`;
    case "raise":
      return `${value} in ${name}, line ${row.line}`;
    case "unwind":
      return `${name} ends by the exception`;
    default:
      return `${visible(row.instruction ?? "")} at offset ${row.offset} of ${name} is about to run`;
  }
}

function hash(): { event?: number; thread?: number } {
  const told = new URLSearchParams(location.hash.slice(1));
  const number = (name: string) => (/^\d{1,15}$/.test(told.get(name) ?? "") ? { [name]: Number(told.get(name)) } : {});
  return { ...number("event"), ...number("thread") };
}

interface AppProps {
  facts: Facts;
  traces: Trace[];
}

function App({ facts, traces }: AppProps): JSX.Element {
  const [thread, setThread] = useState(() => Math.min(hash().thread ?? 0, traces.length - 1));
  const trace = traces[thread]!;
  const { columns } = trace;
  const last = trace.length - 1;
  const [moment, setMoment] = useState<Moment | null>(null);
  const [shownFrame, setShownFrame] = useState<number | null>(null);
  const [watched, setWatched] = useState<Variable | null>(null);
  const [chosenLine, setChosenLine] = useState<[string, number] | null>(null);
  const [instructions, setInstructions] = useState(true);
  const [theme, nextTheme] = useTheme();
  const [more, setMore] = useState(false);
  const [reason, setReason] = useState<Reason | null>(null);
  const [notice, setNotice] = useState("");
  const [problem, setProblem] = useState("");
  const [query, setQuery] = useState("");
  /** The place in the list of the result that is shown; -1: none. */
  const [chosen, setChosen] = useState(-1);
  const [found, setFound] = useState<{ found: Found[]; done: number } | null>(null);
  const help = useRef<HTMLDialogElement>(null);
  const searchField = useRef<HTMLInputElement>(null);
  const eventField = useRef<HTMLInputElement>(null);
  const lineField = useRef<HTMLInputElement>(null);
  const visitField = useRef<HTMLInputElement>(null);
  const target = useRef(-1);
  const written = useRef(-1); // the event in the address
  const naming = useRef<ReturnType<typeof setTimeout> | undefined>(undefined);
  const looking = useRef<AbortController | null>(null);
  const timeline = useRef<Timeline | null>(null);

  const go = useCallback(
    async (index: number | null, nothing = "none in that direction") => {
      if (index === null) {
        setNotice(nothing);
        return;
      }
      const wanted = Math.max(0, Math.min(trace.length - 1, index));
      target.current = wanted;
      try {
        const reached = await trace.moment(wanted);
        if (target.current !== wanted) return;
        setMoment(reached);
        setShownFrame(null);
        setNotice("");
        setProblem("");
        clearTimeout(naming.current);
        naming.current = setTimeout(() => {
          named(`event=${wanted}${traces.length > 1 ? `&thread=${thread}` : ""}`, written.current >= 0 && Math.abs(wanted - written.current) > 1);
          written.current = wanted;
        }, NAMING_MS);
      } catch (error) {
        setProblem(String(error instanceof Error ? error.message : error));
      }
    },
    [trace],
  );

  useEffect(() => {
    setMoment(null);
    if (trace.length) void go(hash().event ?? trace.facts.opens);
    const follow = () => {
      const { event, thread: other = 0 } = hash();
      written.current = event ?? written.current;
      if (other < traces.length && other !== thread) setThread(other);
      else if (event !== undefined && event !== target.current) void go(event);
    };
    addEventListener("hashchange", follow);
    return () => removeEventListener("hashchange", follow);
  }, [trace]);

  useLayoutEffect(() => timeline.current?.repaint(), [theme]);

  useLayoutEffect(() => {
    if (moment && !performance.getEntriesByName("drawn").length) performance.mark("drawn"); // for benchmarks/view.py
  }, [moment]);

  const row = moment?.row ?? null;
  const at = () => Math.max(0, target.current);
  const line: [string, number] | null = chosenLine ?? (row ? [row.file, row.line] : null);
  const visits = useMemo(() => (line ? moves.visits(columns, trace.facts.places, line[0], line[1]) : []), [trace, line?.[0], line?.[1]]);
  const passed = row ? visits.filter((index) => index <= row.index).length : 0;
  const visit = Math.max(Math.min(1, visits.length), passed);

  const toVisit = (way: Way) => {
    const found = way > 0 ? visits.find((index) => index > at()) : visits.findLast((index) => index < at());
    void go(found ?? null, `line ${line?.[1]} is not visited again in that direction`);
  };
  const fromGutter = (file: string, number: number, backwards: boolean) => {
    setChosenLine([file, number]);
    const all = moves.visits(columns, trace.facts.places, file, number);
    if (!all.length) {
      setNotice(`line ${number} never runs`);
      return;
    }
    const next = backwards ? (all.findLast((index) => index < at()) ?? all.at(-1)!) : (all.find((index) => index > at()) ?? all[0]!);
    void go(next);
  };
  const stopLooking = () => {
    looking.current?.abort();
    looking.current = null;
  };
  const toChange = async (way: Way) => {
    if (!watched) {
      setNotice("choose a variable to watch: click its name");
      return;
    }
    stopLooking();
    const { signal } = (looking.current = new AbortController());
    try {
      const index = await change(trace, watched, at(), way, signal, (where) => {
        if (trace.facts.starts.length > 20) setNotice(`searching at event ${where.toLocaleString("en")} … Esc stops the search`);
      });
      if (!signal.aborted) await go(index, `${visible(watched.name)} does not change again in that direction`);
    } catch (error) {
      setProblem(String(error));
    }
  };
  const ask = async (variable: Variable | null) => {
    if (!variable || !row) {
      setNotice("choose a variable: click its value");
      return;
    }
    const causes = await trace.causes();
    const asked = why(causes ?? { slots: {}, nodes: [] }, variable, row.index);
    setReason({ variable, at: row.index, ...asked, recorded: causes !== null });
  };
  const look = async (text: string) => {
    setQuery(text);
    setChosen(-1);
    stopLooking();
    if (!text) {
      setFound(null);
      return;
    }
    const { signal } = (looking.current = new AbortController());
    setFound({ found: [], done: 0 });
    try {
      await search(trace, text, FOUND, signal, (some, done) => signal.aborted || setFound({ found: [...some], done }));
    } catch (error) {
      setProblem(String(error));
    }
  };
  const closeSearch = () => {
    stopLooking();
    setQuery("");
    setFound(null);
  };
  const frames = moment ? moment.state.active.map((number) => moment.state.frames.get(number)!) : [];
  const shown = moment ? (moment.state.frames.get(shownFrame ?? moment.row.frame) ?? null) : null;
  const toThread = (number: number) => {
    clearTimeout(naming.current);
    named(`event=${traces[number]!.facts.opens}&thread=${number}`);
    setThread(number);
    setChosenLine(null);
    setWatched(null);
    setReason(null);
    closeSearch();
  };
  const toFrame = (way: Way) => {
    const place = frames.findIndex((frame) => frame === shown) + way;
    if (frames[place]) setShownFrame(frames[place].number);
  };

  const forward = () => void go(moves.step(columns, at(), 1, instructions), "this is the last event");
  const back = () => void go(moves.step(columns, at(), -1, instructions), "this is the first event");
  const over = (way: Way) => void go(moves.over(columns, at(), way, instructions));
  const leave = (way: Way) => void go(moves.out(columns, at(), way), "no recorded frame called this one");
  const toException = (way: Way) => void go(moves.exception(columns, at(), way), "no exception in that direction");
  const toOutput = (way: Way) => void go(moves.printed(columns, at(), way), "no output in that direction");

  useKeys({
    ArrowRight: forward,
    n: forward,
    ArrowLeft: back,
    p: back,
    "Shift ArrowRight": () => over(1),
    o: () => over(1),
    "Shift ArrowLeft": () => over(-1),
    b: () => over(-1),
    u: () => leave(1),
    U: () => leave(-1),
    Home: () => void go(0),
    End: () => void go(last),
    PageDown: () => void go(at() + 100),
    PageUp: () => void go(at() - 100),
    e: () => toException(1),
    E: () => toException(-1),
    w: () => toOutput(1),
    W: () => toOutput(-1),
    y: () => void ask(watched),
    v: () => void toChange(1),
    V: () => void toChange(-1),
    ".": () => toVisit(1),
    ",": () => toVisit(-1),
    "[": () => toFrame(-1),
    "]": () => toFrame(1),
    "+": () => timeline.current?.zoom(0.7),
    "=": () => timeline.current?.zoom(0.7),
    "-": () => timeline.current?.zoom(1 / 0.7),
    "<": () => timeline.current?.pan(-0.3),
    ">": () => timeline.current?.pan(0.3),
    i: () => setInstructions(!instructions),
    g: () => eventField.current?.select(),
    "/": () => searchField.current?.focus(),
    t: nextTheme,
    "?": () => help.current?.showModal(),
    Escape: () => {
      closeSearch();
      setReason(null);
      setNotice("");
      setChosenLine(null);
      if (document.activeElement instanceof HTMLInputElement) document.activeElement.blur();
    },
  });

  const call = facts.entry === null ? visible(facts.file) : visible(`${facts.entry}${facts.arguments ?? ""}`);
  const files = [...new Set(trace.facts.places.map(([, file]) => file))];
  const button = (name: string, label: string, key: string, act: () => void, off = false) => (
    <button type="button" id={`do-${name}`} title={`${label} (${key})`} aria-label={label} disabled={off} onClick={act}>
      <Icon name={name} />
    </button>
  );
  const silent = useMemo(() => !facts.stderr && moves.printed(columns, -1, 1) === null, [trace]);
  const first = !row || row.index === 0;
  const final = !row || row.index === last;

  return (
    <>
      <header>
        <h1>{visible(facts.id)}</h1>
        {!facts.id.endsWith(call) && <code class="call">{call}</code>}
        <span class={`outcome ${facts.failure ? "" : facts.outcome}`}>
          {facts.outcome.replaceAll("_", " ")} {beginning(facts.result ?? facts.detail)}
        </span>
        {facts.repeatable === false && <span class="outcome" title={visible(facts.difference ?? "")}>not repeatable</span>}
        {traces.length > 1 && (
          <label>
            thread{" "}
            <select value={thread} onChange={(event) => toThread(Number(event.currentTarget.value))}>
              {traces.map((_, i) => (
                <option key={i} value={i}>
                  {i}
                </option>
              ))}
            </select>
          </label>
        )}
        <Controls theme={theme} next={nextTheme} help={help} />
        {trace.length > 0 && <About facts={facts} trace={trace} go={(index) => void go(index)} />}
      </header>
      <nav class={`tools${more ? " all" : ""}`} aria-label="steps">
        <span class="group">
          <Move id="back" label="← Back" act={back} off={first} />
          <Move id="forward" label="Next →" act={forward} off={final} />
          <button type="button" id="do-more" aria-expanded={more} onClick={() => setMore(!more)}>
            More
          </button>
        </span>
        <span class="group rest">
          {button("back-over", "step back over calls", "Shift ←", () => over(-1), first)}
          {button("over", "step over calls", "Shift →", () => over(1), final)}
          {button("out", "out of the frame", "u", () => leave(1), final)}
          {button("first", "first event", "Home", () => void go(0), first)}
          {button("last", "last event", "End", () => void go(last), final)}
        </span>
        <form
          class="group rest"
          onSubmit={(event) => {
            event.preventDefault();
            void go(Number(eventField.current!.value));
            eventField.current!.blur();
          }}
        >
          <label for="event">event</label>
          <input id="event" ref={eventField} type="number" min={0} max={last} value={row?.index ?? 0} />
          <span class="soft">of {Math.max(0, last).toLocaleString("en")}</span>
        </form>
        <form
          class="group rest"
          onSubmit={(event) => {
            event.preventDefault();
            fromGutter(line?.[0] ?? facts.file, Number(lineField.current!.value), false);
            lineField.current!.blur();
          }}
        >
          <label for="line">line</label>
          <input id="line" ref={lineField} type="number" min={1} value={line?.[1] ?? 1} />
        </form>
        <form
          class="group rest"
          onSubmit={(event) => {
            event.preventDefault();
            const wanted = Number(visitField.current!.value);
            void go(visits[wanted - 1] ?? null, `line ${line?.[1]} has ${visits.length} visits`);
            visitField.current!.blur();
          }}
        >
          {button("visit-back", "previous visit of the line", ",", () => toVisit(-1))}
          <label for="visit">visit</label>
          <input id="visit" ref={visitField} type="number" min={1} max={Math.max(1, visits.length)} value={visit} />
          <span class="soft">of {visits.length.toLocaleString("en")}</span>
          {button("visit", "next visit of the line", ".", () => toVisit(1))}
        </form>
        <span class="group rest">
          {button("change-back", "previous change of the watched variable", "Shift v", () => void toChange(-1))}
          <span class="watched">{watched ? visible(watched.name) : "variable"}</span>
          {button("change", "next change of the watched variable", "v", () => void toChange(1))}
        </span>
        <span class="group rest">
          {button("exception-back", "previous exception", "Shift e", () => toException(-1))}
          <span class="bad-word">exception</span>
          {button("exception", "next exception", "e", () => toException(1))}
        </span>
        <span class="group rest">
          {button("output-back", "previous output", "Shift w", () => toOutput(-1))}
          <span class="output-word">output</span>
          {button("output", "next output", "w", () => toOutput(1))}
        </span>
        {facts.level === "instruction" && (
          <label class="group rest">
            <input type="checkbox" id="instructions" checked={instructions} onChange={() => setInstructions(!instructions)} /> instructions
          </label>
        )}
        <span class="group searching rest">
          <input
            ref={searchField}
            type="search"
            id="search"
            aria-label="search in events"
            placeholder="search  /"
            value={query}
            onInput={(event) => void look(event.currentTarget.value)}
            onKeyDown={(event) => {
              const way = { ArrowDown: 1, ArrowUp: -1, Enter: 1 }[event.key];
              if (!way || !found?.found.length) return;
              event.preventDefault();
              const next = event.key === "Enter" && event.shiftKey ? -1 : way;
              const { length } = found.found;
              const place = chosen < 0 && next < 0 ? length - 1 : (chosen + next + length) % length;
              setChosen(place);
              void go(found.found[place]!.index);
            }}
          />
          {found && (
            <div class="found" role="region" aria-label="found" tabIndex={0}>
              <div class="soft" role="status">
                {found.found.length >= FOUND ? `the first ${FOUND}` : found.found.length} found
                {found.done < 1 && found.found.length < FOUND && `, ${Math.round(100 * found.done)} % looked through`}
              </div>
              {found.found.map(({ index, line: where, text }, place) => (
                <button
                  type="button"
                  key={index}
                  aria-current={place === chosen ? "true" : undefined}
                  ref={(element) => void (place === chosen && element?.scrollIntoView({ block: "nearest" }))}
                  onClick={() => {
                    setChosen(place);
                    void go(index);
                  }}
                >
                  <span class="soft">
                    {index}, line {where}
                  </span>{" "}
                  <bdi>{text}</bdi>
                </button>
              ))}
            </div>
          )}
        </span>
      </nav>
      {problem && (
        <p class="problem" role="alert">
          {visible(problem)}
        </p>
      )}
      <section class="line-time" aria-label="timeline">
        <TimelineView key={thread} trace={trace} row={row} go={(index) => void go(index)} hold={timeline} />
      </section>
      <section class={`now ${row?.kind ?? ""}`} aria-label="event">
        <span id="now" aria-live="polite" aria-atomic="true">
          {row && moment && (
            <>
              <span class="kind">{row.kind}</span> <bdi>{told(row, moment)}</bdi>
              {row.output && (
                <span class="prints">
                  {" "}
                  after printing <bdi>{stringText(row.output.slice(0, 120))}</bdi>
                </span>
              )}
            </>
          )}
          {!trace.length && "no events were recorded"}
        </span>
        {row?.leftOut && <span class="cut">left out before it: {gaps(row.leftOut)}</span>}
        {row && row.index === last && (
          <span class="ending">
            {(trace.facts.cut ?? facts.cut) ? (
              <span class="cut">events are missing from here on: {MISSING[(trace.facts.cut ?? facts.cut)!] ?? visible((trace.facts.cut ?? facts.cut)!)}</span>
            ) : (
              `the end: ${facts.outcome.replaceAll("_", " ")}`
            )}
          </span>
        )}
        <span class="notice" role="status">
          {notice}
        </span>
      </section>
      {reason && <Why id={facts.id} reason={reason} go={(index) => void go(index)} close={() => setReason(null)} />}
      <main>
        <section class="left" aria-label="program">
          <SourceView facts={facts} trace={trace} files={files} moment={moment} shown={shown?.number ?? null} onLine={fromGutter} />
          {facts.level === "instruction" && moment && <Instructions trace={trace} moment={moment} go={(index) => void go(index)} />}
          <Output moment={moment} stderr={final ? facts.stderr : ""} none={silent} />
        </section>
        <section class="right" aria-label="variables and objects" tabIndex={0}>
          {moment && (
            <Memory
              moment={moment}
              shown={shown?.number ?? -1}
              watched={watched}
              manyFiles={files.length > 1}
              onShow={setShownFrame}
              onWatch={(variable) => setWatched(variable)}
              onWhy={(variable) => void ask(variable)}
            />
          )}
        </section>
      </main>
      <Help dialog={help} keys={KEYS}>
        <p>
          A click on a line number goes to the next visit of that line, with Shift to the previous one. A click on a variable's name watches it. The address of the page
          contains the event, so you can share it.
        </p>
        <p class="soft">
          deskcheck {facts.deskcheck}, recorded with Python {facts.python}
        </p>
      </Help>
    </>
  );
}

interface Reason {
  variable: Variable;
  at: number;
  steps: Step[];
  more: number;
  recorded: boolean;
}

/** Where a value comes from: each step with the event that made it. */
function Why({ id, reason, go, close }: { id: string; reason: Reason; go: (index: number) => void; close: () => void }): JSX.Element {
  const { variable, at, steps, more, recorded } = reason;
  const name = visible(variable.name);
  const first = useRef<HTMLElement>(null);
  useLayoutEffect(() => first.current?.focus(), [reason]);
  return (
    <section class="why" aria-label="why" ref={first} tabIndex={-1}>
      <h2>
        Why <code>{name}</code> has its value at event {at}
        <button type="button" onClick={close}>
          Close
        </button>
      </h2>
      {steps.map((step, number) => (
        <div class="step" key={number} data-depth={Math.min(step.depth, 6)}>
          <code>{visible(step.name)}</code> {visible(step.text)}{" "}
          {step.event !== null && <Jump index={step.event} text="show" label={`show event ${step.event}`} go={go} />}
        </div>
      ))}
      {more > 0 && <p class="soft">{more} more values were read there. Ask at one of these events, or use deskcheck why --steps.</p>}
      {!steps.length && recorded && <p>No recorded event changed it: it is older, or code that is not recorded made it.</p>}
      {!recorded && (
        <p>
          The page of a long trace has no answers. Ask for it in a terminal:{" "}
          <code>
            deskcheck why FOLDER '{name}' --recording '{visible(id)}' --at {at} --steps {WHY_STEPS}
          </code>
        </p>
      )}
    </section>
  );
}

const STOPPED = new Set(["timed_out", "out_of_memory", "output_limit", "killed"]);

/** What the page shows, in a sentence, and what to press. */
function About({ facts, trace, go }: { facts: Facts; trace: Trace; go: (index: number) => void }): JSX.Element {
  const { opens } = trace.facts;
  const line = `line ${trace.columns.line[opens]}`;
  const place = <Jump index={opens} go={go} text={trace.columns.kind(opens) === "raise" ? `raised in ${line}` : `event ${opens}, ${line}`} />;
  const what = (() => {
    if (facts.failure) {
      return (
        <>
          This is the last call of your code that a failed test made. <b class="failed">The test failed:</b> <bdi class="failed">{beginning(facts.failure.split("\n")[0]!)}</bdi>. It opens at {place}.
        </>
      );
    }
    if (trace.columns.kind(opens) === "raise") {
      return (
        <>
          This is a recorded run: every line that ran, with the values it had. It ended by an exception, {place}. <b>Back</b> goes to what led there.
        </>
      );
    }
    const ended = STOPPED.has(facts.outcome) ? "It was stopped before its end." : "";
    return (
      <>
        This is a recorded run: every line that ran, with the values it had. {ended} It opens at {place}. <b>Next</b> runs one step, <b>Back</b> undoes it.
      </>
    );
  })();
  return <p class="about">{what}</p>;
}

/** A link to an event. */
function Jump({ index, text, label, go }: { index: number; text: string; label?: string; go: (index: number) => void }): JSX.Element {
  return (
    <button type="button" class="jump" aria-label={label} onClick={() => go(index)}>
      {text}
    </button>
  );
}

function gaps(leftOut: Record<string, number>): string {
  return Object.entries(leftOut)
    .map(([what, count]) => `${count} ${GAPS[what] ?? visible(what)}`)
    .join(", ");
}

const [BACK, FORWARD] = ["M11 3v10L4 8z", "M5 3v10l7-5z"];
const BARE: Record<string, string> = {
  first: "M3 3h2v10H3zM13 3v10L6 8z",
  last: "M11 3h2v10h-2zM3 3v10l7-5z",
  over: "M2 9a5.5 5.5 0 0 1 10.2-2.2L14 5v5H9l2-2A4 4 0 0 0 3.6 9zM6 12h3v2H6z",
  "back-over": "M14 9A5.5 5.5 0 0 0 3.800 6.800L2 5v5h5L5 8a4 4 0 0 1 7.400 1zM7 12h3v2H7z",
  out: "M8 2l5 5h-3.500v4h-3V7H3zM3 12.500h10v1.500H3z",
};

function Icon({ name }: { name: string }): JSX.Element {
  const path = BARE[name] ?? (name.endsWith("-back") ? BACK : FORWARD);
  return (
    <svg viewBox="0 0 16 16" width="16" height="16" aria-hidden="true">
      <path d={path} />
    </svg>
  );
}

interface TimelineProps {
  trace: Trace;
  row: Row | null;
  go: (index: number) => void;
  hold: { current: Timeline | null };
}

function TimelineView({ trace, row, go, hold }: TimelineProps): JSX.Element {
  const canvas = useRef<HTMLCanvasElement>(null);
  const { columns } = trace;
  useEffect(() => {
    const made = new Timeline(canvas.current!, columns, trace.facts.places, go);
    hold.current = made;
    return () => made.destroy();
  }, [trace]);
  useEffect(() => {
    if (row) hold.current?.move(row.index);
  }, [row]);
  const depth = row ? columns.depth[row.index]! : 0;
  return (
    <canvas
      ref={canvas}
      class="timeline"
      role="slider"
      tabIndex={0}
      aria-label="timeline of all events"
      aria-valuemin={0}
      aria-valuemax={Math.max(0, trace.length - 1)}
      aria-valuenow={row?.index ?? 0}
      aria-valuetext={`event ${row?.index ?? 0}, depth ${depth}`}
    />
  );
}

interface SourceProps {
  facts: Facts;
  trace: Trace;
  files: string[];
  moment: Moment | null;
  shown: number | null;
  onLine: (file: string, line: number, backwards: boolean) => void;
}

function SourceView({ facts, trace, files, moment, shown, onLine }: SourceProps): JSX.Element {
  const place = useRef<HTMLDivElement>(null);
  const source = useRef<Source | null>(null);
  const [chosen, setChosen] = useState<string | null>(null);
  const frame = moment && shown !== null ? moment.state.frames.get(shown) : undefined;
  const file = chosen ?? frame?.file ?? facts.file;
  const latest = useRef({ file, onLine });
  latest.current = { file, onLine };
  const text = Object.hasOwn(facts.sources, file) ? facts.sources[file]! : null;

  useLayoutEffect(() => {
    source.current = new Source(place.current!, (line, backwards) => latest.current.onLine(latest.current.file, line, backwards));
    return () => source.current!.destroy();
  }, []);
  useLayoutEffect(() => {
    source.current!.show(text ?? "# the source of this file is not in the recording", moves.visitCounts(trace.columns, trace.facts.places, file));
  }, [trace, file]);
  useLayoutEffect(() => setChosen(null), [moment, shown]);
  useLayoutEffect(() => {
    if (!moment || !frame) return;
    const marks = marksOf(moment, frame.number, file, trace.columns);
    source.current!.mark(marks);
    if (frame.file !== file) return;
    let current = true;
    void trace.rows(trace.blockOf(moment.row.index)).then(({ rows }) => {
      if (current) source.current!.mark({ ...marks, values: writtenValues(rows, moment, frame) });
    });
    return () => {
      current = false;
    };
  }, [moment, shown, file, trace]);

  return (
    <div class="source">
      {files.length > 1 && (
        <label class="files">
          file{" "}
          <select value={file} onChange={(event) => setChosen(event.currentTarget.value)}>
            {files.map((name) => (
              <option key={name} value={name}>
                {visible(name)}
              </option>
            ))}
          </select>
        </label>
      )}
      <div class="editor" ref={place} />
    </div>
  );
}

const SAYS: Record<string, string> = { call: "called", resume: "resumes", raise: "raised here", unwind: "left by the exception", return: "returns", yield: "yields" };

function marksOf({ state, row }: Moment, shown: number, file: string, columns: Columns): Marks {
  const frame = state.frames.get(shown)!;
  const place = state.active.indexOf(shown);
  const above = place >= 0 ? state.frames.get(state.active[place + 1] ?? -1) : undefined;
  const others = state.active.map((number) => state.frames.get(number)!).filter((one) => one.file === file && one !== frame);
  const look = shown !== row.frame ? "calling" : row.kind === "raise" || row.kind === "unwind" ? "raise" : row.kind === "return" || row.kind === "yield" ? "leave" : "line";
  const before = look === "line" && shown === row.frame && frame.file === file ? moves.lineBefore(columns, row.index) : null;
  return {
    says: shown === row.frame ? (SAYS[row.kind] ?? "runs next") : "waits for its call",
    ...(before === null ? {} : { before: columns.line[before]! }),
    line: frame.file === file ? frame.line : -1,
    look,
    others: others.map((one) => one.line),
    call: shown !== row.frame && frame.file === file ? (above?.caller?.at ?? null) : null,
  };
}

/** The instructions that ran before this event and run after it, in the same frame. */
function Instructions({ trace, moment, go }: { trace: Trace; moment: Moment; go: (index: number) => void }): JSX.Element {
  const { row } = moment;
  const [rows, setRows] = useState<Row[]>([]);
  useEffect(() => {
    let current = true;
    void trace.rows(trace.blockOf(row.index)).then(({ rows: all }) => {
      if (!current) return;
      const own = all.filter((one) => one.kind === "instruction" && one.frame === row.frame);
      const place = own.findIndex((one) => one.index >= row.index);
      const from = Math.max(0, (place < 0 ? own.length : place) - 4);
      setRows(own.slice(from, from + 10));
    });
    return () => {
      current = false;
    };
  }, [row]);
  return (
    <div class="instructions" role="group" aria-label="instructions">
      {rows.map((one) => (
        <button type="button" key={one.index} aria-current={one.index === row.index ? "step" : undefined} onClick={() => go(one.index)}>
          <span class="soft">
            {one.line}:{one.offset}
          </span>{" "}
          <bdi>{visible(one.instruction ?? "")}</bdi>
        </button>
      ))}
      {!rows.length && <span class="soft">no instructions of this frame near here</span>}
    </div>
  );
}

/** none: nothing is printed anywhere, so that it needs no room. */
function Output({ moment, stderr, none }: { moment: Moment | null; stderr: string; none: boolean }): JSX.Element {
  const end = useRef<HTMLPreElement>(null);
  const output = moment?.output ?? { length: 0, tail: "" };
  const fresh = moment?.row.output.length ?? 0;
  const missing = output.length - output.tail.length;
  const split = Math.max(0, output.tail.length - fresh);
  useLayoutEffect(() => {
    if (end.current) end.current.scrollTop = end.current.scrollHeight;
  }, [moment]);
  return (
    <section class={none ? "output none" : "output"} aria-label="output">
      <h2>Output</h2>
      <pre ref={end} tabIndex={0}>
        {missing > 0 && <Cut why="only the last of it is shown" left={missing} />}
        {visible(output.tail.slice(0, split), true)}
        {fresh > 0 && <ins>{visible(output.tail.slice(split), true)}</ins>}
        {!output.length && <span class="soft">{none ? "nothing is printed" : "nothing printed so far"}</span>}
        {stderr && <span class="stderr">{`\n${visible(stderr, true)}`}</span>}
      </pre>
    </section>
  );
}

/** Shows the recording of the page. */
export async function trace(place: HTMLElement): Promise<void> {
  const from = store();
  const facts = await from.facts();
  const traces = await Promise.all(
    facts.traces.map(async (told) => new Trace(from, told, new Columns(await from.columns(told.thread), told.events, facts.kinds))),
  );
  place.replaceChildren();
  render(<App facts={facts} traces={traces} />, place);
}
