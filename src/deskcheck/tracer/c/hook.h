/* From the interpreter's events to ours (reference.py, same names). */

static int
flush(Thread *t, PyFrameObject *frame, Rec *r)
{
    int kind = r->pending;
    r->pending = -1;
    if (kind < 0) return 0;
    if (r->number < 0) r->number = t->next_frame++;
    return emit(t, kind, r, frame, kind == K_CALL ? r->info->first_line : PyFrame_GetLineNumber(frame), NULL);
}

static void
leave_active(Thread *t, Rec *r)
{
    if (t->nactive && t->active[t->nactive - 1] == r) {
        t->nactive--;
        recount(t, r, -1);
        r->active = false;
        r->users--;
    }
    Objs *left = t->nactive ? &t->active[t->nactive - 1]->left : &t->left;
    keep_numbers(left, &r->left);
    keep_numbers(left, &r->refs);
    keep_numbers(left, &r->srefs);
    keep_numbers(left, &t->in_flight);
    if (left->n > 2 * KEPT_NUMBERS) let_go(t, left, left->n - KEPT_NUMBERS);
    let_go(t, &r->left, r->left.n);
    t->dirty = true;
}

static void
leave(Thread *t, PyFrameObject *frame, Rec *r, bool keep)
{
    leave_active(t, r);
    if (!keep) frames_del(t, frame);
    while (t->nactive && t->active[t->nactive - 1]->bypassed) leave_active(t, t->active[t->nactive - 1]);
}

static void
enter(Thread *t, Rec *r, bool bypassed)
{
    if (t->nactive == t->capactive)
        t->active = must(realloc(t->active, (size_t)(t->capactive = t->capactive * 2 + 16) * sizeof(Rec *)));
    r->active = true;
    r->bypassed = bypassed;
    t->active[t->nactive++] = r;
    r->users++;
    recount(t, r, 1);
}

/* Keep the generators that a `throw` goes past (_enter_bypassed). */
static void
enter_bypassed(Thread *t, PyFrameObject *frame)
{
    int first = t->nactive;
    PyFrameObject *below = PyFrame_GetBack(frame);
    while (below) {
        Entry *e = entry_of(t, below);
        if (e && e->rec->active) break;
        if (e) enter(t, e->rec, true);
        PyFrameObject *back = PyFrame_GetBack(below);
        Py_DECREF(below);
        below = back;
    }
    Py_XDECREF(below);
    for (int last = t->nactive - 1; first < last; first++, last--) {  /* outermost first */
        Rec *r = t->active[first];
        t->active[first] = t->active[last];
        t->active[last] = r;
    }
}

static int
trace_opcodes(PyFrameObject *frame, PyObject *tracer)
{
    if (!frame->f_trace) frame->f_trace = Py_NewRef(tracer);  /* 3.13 forgets the wish on a frame without one */
    return PyObject_SetAttrString((PyObject *)frame, "f_trace_opcodes", Py_True);
}

/* Whether the frame that is calling repeats what is recorded no more. */
static inline bool in_gap(Thread *t) { return t->nactive && t->active[t->nactive - 1]->repeats; }

/* Whether a frame that begins or goes on is beyond the depth that was asked for, or called in a gap (_leaves_out). */
static bool
leaves_out(Thread *t, PyFrameObject *frame, const View *v)
{
    bool deep = t->core->call_depth && t->nactive >= t->core->call_depth;
    if (!deep && !in_gap(t)) return false;
    Entry *e;
    if (v->info->is_comprehension) {
        PyFrameObject *back = PyFrame_GetBack(frame);
        e = back ? entry_of(t, back) : NULL;
        Py_XDECREF(back);
        if (e) return false;
    } else {
        e = v->offset <= v->info->first_resume ? NULL : entry_of(t, frame);
        if (e && !e->comprehension) return false;
        t->left_out[deep ? DEEP : CALLED]++;
    }
    frames_del(t, frame);
    return true;
}

/* Take that back from this frame and those that it returns to: under the next trace function, which may be the program's own,
   the interpreter would call the None that stands there. Nobody else can put it there. A suspended generator keeps it. */
static void
untrace_opcodes(PyFrameObject *frame)
{
    Py_XINCREF(frame);
    while (frame) {
        if (frame->f_trace == Py_None) {
            Py_CLEAR(frame->f_trace);
            frame->f_trace_opcodes = 0;
        }
        PyFrameObject *back = PyFrame_GetBack(frame);
        Py_DECREF(frame);
        frame = back;
    }
}

static int
on_call(Thread *t, PyFrameObject *frame)
{
    View v;
    if (view_of(t, frame, &v) < 0) return -1;
    Info *info = v.info;
    if ((info->needs_opcodes || t->core->instructions) && trace_opcodes(frame, Py_None) < 0) return -1;
    if (leaves_out(t, frame, &v)) return 0;  /* after that: on 3.13 the events are the code's, of all its frames */
    if (info->is_comprehension) {
        PyFrameObject *back = PyFrame_GetBack(frame);
        Entry *e = back ? entry_of(t, back) : NULL;
        Py_XDECREF(back);
        if (e) { frames_put(t, frame, e->rec, true); return 0; }
    }
    bool begins = v.offset <= info->first_resume;
    Entry *e = entry_of(t, frame);
    Rec *r;
    if (begins || !e || e->comprehension || e->rec->info != info) {
        r = rec_new(info);
        r->number = -1;
        r->info = info;
        r->pending = -1;
        r->last_offset = -1;
        frames_put(t, frame, r, false);
    } else r = e->rec;
    r->skipped = r->repeats = in_gap(t);
    if (!begins) enter_bypassed(t, frame);
    enter(t, r, false);
    r->propagating = r->closing = false;
    r->pending = begins ? K_CALL : K_RESUME;
    return op_at(info, v.offset) & OP_GOES_ON ? flush(t, frame, r) : 0;
}

static int
enters_comprehension(Thread *t, Info *info, int offset)
{
    if (offset < 0) return 0;
    signed char *known = &info->enters[offset / 2];
    if (*known < 0) {
        PyObject *found = QUIETLY(PyObject_CallMethod(info->facts, "enters_comprehension", "i", offset));
        if (!found) return -1;
        *known = (signed char)PyObject_IsTrue(found);
        Py_DECREF(found);
    }
    return *known;
}

static int
on_line(Thread *t, PyFrameObject *frame, Rec *r)
{
    View v;
    if (view_of(t, frame, &v) < 0) return -1;
    int line = PyFrame_GetLineNumber(frame), op = op_at(v.info, v.offset);
    if (v.offset >= 0 && v.info->comprehension[v.offset / 2]) { r->after_comprehension = true; return 0; }
    if (op & (OP_CLEANUP_THROW | OP_NO_LINE)) return 0;
    int enters = enters_comprehension(t, v.info, v.offset);
    if (enters < 0) return -1;
    if (enters) { r->last_line = line; r->after_comprehension = true; return 0; }
    if (r->after_comprehension) {
        r->after_comprehension = false;
        bool jumped = op & OP_JUMPS_BACK || v.offset < r->last_offset;
        if (line == r->last_line && !jumped) return 0;
    }
    if (op & OP_TOLD_AGAIN && line == r->last_line && v.offset > r->last_offset && !r->propagating) return 0;
    if (flush(t, frame, r) < 0) return -1;
    r->propagating = false;
    return emit(t, K_LINE, r, frame, line, NULL);
}

static int
on_opcode(Thread *t, PyFrameObject *frame, Rec *r)
{
    int offset = frame_lasti(frame->f_frame);
    Info *info = r->info;
    if (offset < 0 || !info->comprehension[offset / 2]) { r->last_offset = offset; return 0; }
    r->after_comprehension = true;
    int failed = 0;
    if (offset < r->last_offset && op_at(info, offset) & OP_ASKS_NEXT) {
        r->propagating = false;
        failed = emit(t, K_LINE, r, frame, info->comprehension[offset / 2], NULL);
    }
    r->last_offset = offset;
    return failed;
}

/* An instruction is about to run in the frame of `r`, or in a comprehension's inside it. */
static int
on_instruction(Thread *t, PyFrameObject *frame, Rec *r)
{
    if (r->pending >= 0) return 0;
    Info *info = info_of(t, frame_code(frame->f_frame));
    if (!info) return -1;
    int offset = frame_lasti(frame->f_frame);
    if (offset < 0 || !info->in_scope) return 0;
    PyObject **text = &info->texts[offset / 2];
    if (!*text) {
        PyObject *found = QUIETLY(PyObject_CallMethod(info->facts, "instruction", "i", offset));
        if (!found) return -1;
        if (*text) Py_DECREF(found);  /* another thread has asked meanwhile */
        else *text = found;
    }
    if (*text == Py_None) return 0;
    int line = info->lines[offset / 2] ? info->lines[offset / 2] : r->line;
    t->instruction = *text;
    int failed = emit(t, K_INSTRUCTION, r, frame, line, NULL);
    t->instruction = NULL;
    return failed;
}

static int
in_comprehension(Thread *t, PyFrameObject *frame, int what, PyObject *arg, Entry *e)
{
    Rec *enclosing = e->rec;
    if (what == PyTrace_OPCODE) {
        int offset = frame_lasti(frame->f_frame), last = e->last;
        Info *info = info_of(t, frame_code(frame->f_frame));
        if (!info) return -1;
        if (offset < last && op_at(info, offset) & OP_ASKS_NEXT
            && emit(t, K_LINE, enclosing, frame, info->code->co_firstlineno, NULL) < 0) return -1;
        e = entry_of(t, frame);
        if (e) e->last = offset;
        if (t->core->instructions && e) return on_instruction(t, frame, enclosing);
    } else if (what == PyTrace_EXCEPTION) {
        if (enclosing->unfolding) { enclosing->unfolding = false; return 0; }
        if (emit(t, K_RAISE, enclosing, frame, PyFrame_GetLineNumber(frame), PyTuple_GET_ITEM(arg, 1)) < 0) return -1;
        enclosing->propagating = true;
    } else if (what == PyTrace_RETURN) {
        enclosing->after_comprehension = true;
        enclosing->unfolding = enclosing->propagating;
        frames_del(t, frame);
    }
    return 0;
}

static bool
ends_loop(Thread *t, PyFrameObject *frame, PyObject *arg)
{
    PyObject *type = PyTuple_GET_ITEM(arg, 0);
    if (!PyType_Check(type) || !(PyType_IsSubtype((PyTypeObject *)type, (PyTypeObject *)PyExc_StopIteration)
                                 || PyType_IsSubtype((PyTypeObject *)type, (PyTypeObject *)PyExc_StopAsyncIteration)))
        return false;
    View v;
    if (view_of(t, frame, &v) < 0) { PyErr_Clear(); return false; }
    return op_at(v.info, v.offset) & OP_LOOP_ENDS;
}

static bool
closes_unseen(Thread *t, PyFrameObject *frame, Rec *r)
{
    View v;
    if (view_of(t, frame, &v) < 0) { PyErr_Clear(); return false; }
    if (r->info->is_lambda && v.offset > r->info->first_resume) return false;
    for (int i = 0; i < r->info->nguarded; i++)
        if (r->info->guarded[2 * i] <= v.offset && v.offset < r->info->guarded[2 * i + 1] + 2) return false;
    return true;
}

static int
on_exception(Thread *t, PyFrameObject *frame, Rec *r, PyObject *arg)
{
    if (r->unfolding) { r->unfolding = false; return 0; }
    bool exits = r->pending >= 0 && PyTuple_GET_ITEM(arg, 0) == PyExc_GeneratorExit;
    if (exits && closes_unseen(t, frame, r)) return 0;
    r->closing = exits;
    if (flush(t, frame, r) < 0) return -1;
    if (emit(t, K_RAISE, r, frame, PyFrame_GetLineNumber(frame), PyTuple_GET_ITEM(arg, 1)) < 0) return -1;
    r->propagating = true;
    return 0;
}

static int
on_return(Thread *t, PyFrameObject *frame, Rec *r, PyObject *arg)
{
    if (r->pending >= 0) {  /* closed unseen */
        r->pending = -1;
        leave(t, frame, r, false);
        return 0;
    }
    View v;
    if (view_of(t, frame, &v) < 0) return -1;
    int op = op_at(v.info, v.offset), kind;
    if (op & OP_RETURNS) kind = K_RETURN;
    else if (op & OP_YIELD_POINT && !r->propagating) kind = K_YIELD;
    else kind = K_UNWIND;
    PyObject *value = NULL;
    if (kind != K_UNWIND) {
        value = arg ? arg : Py_None;
        if (kind == K_YIELD && r->info->code->co_flags & CO_ASYNC_GENERATOR
            && strcmp(Py_TYPE(value)->tp_name, "async_generator_wrapped_value") == 0)
            value = *(PyObject **)((char *)value + sizeof(PyObject));
    }
    int failed = emit(t, kind, r, frame, PyFrame_GetLineNumber(frame), value);
    leave(t, frame, r, kind == K_YIELD);
    return failed;
}

static int
on_event(Thread *t, PyFrameObject *frame, int what, PyObject *arg)
{
    Entry *e = entry_of(t, frame);
    if (!e) return 0;
    if (what == PyTrace_EXCEPTION) {
        if (ends_loop(t, frame, arg)) return 0;
        View v;
        if (view_of(t, frame, &v) < 0) return -1;
        map_put(&t->raised, (uint64_t)frame, (void *)(uintptr_t)(v.offset + 2));
    } else if (what != PyTrace_OPCODE && t->raised.used && map_get(&t->raised, (uint64_t)frame)) {
        View v;
        if (view_of(t, frame, &v) < 0) return -1;
        /* what CodeFacts.raises_again has raises it again: the frame then stands where it was raised first */
        int stays = what == PyTrace_LINE ? OP_RAISES_AGAIN : what == PyTrace_RETURN ? OP_YIELD_POINT : 0;
        if (!(op_at(v.info, v.offset) & stays)) map_del(&t->raised, (uint64_t)frame);
    }
    if (e->comprehension) return in_comprehension(t, frame, what, arg, e);
    Rec *r = e->rec;
    r->users++;
    int failed = 0;
    if (what == PyTrace_LINE) failed = on_line(t, frame, r);
    else if (what == PyTrace_OPCODE) {
        if (r->info->needs_opcodes) failed = on_opcode(t, frame, r);
        if (!failed && t->core->instructions) failed = on_instruction(t, frame, r);
    }
    else if (what == PyTrace_EXCEPTION) failed = on_exception(t, frame, r, arg);
    else if (what == PyTrace_RETURN) failed = on_return(t, frame, r, arg);
    rec_drop(t, r);
    return failed;
}

#if HAS_LOCAL_EVENTS
static int
call_with_ints(PyObject *f, PyObject *code, long events)
{
    PyObject *done = code ? PyObject_CallFunction(f, "iOl", OWN_TOOL, code, events) : PyObject_CallFunction(f, "il", OWN_TOOL, events);
    Py_XDECREF(done);
    return done ? 0 : -1;
}

enum { BEGINS = 1 << PY_MONITORING_EVENT_PY_START | 1 << PY_MONITORING_EVENT_PY_RESUME, A_LINE = 1 << PY_MONITORING_EVENT_LINE };

/* Have the events of sys.settrace for code in the scope alone, or for all code again; the change of our own tool's events
   makes the interpreter look at them. */
static int
narrow(Core *core, bool wide)
{
    if (!core->set_events) return 0;
    PyInterpreterState *interp = PyInterpreterState_Get();
    if (wide) settrace_events_on(interp, core->events_were);
    else settrace_events_off(interp, core->events_were);
    core->wide = wide;
    return call_with_ints(core->set_events, NULL, 0) < 0 || call_with_ints(core->set_events, NULL, wide ? 0 : BEGINS) < 0 ? -1 : 0;
}

/* Turn the events of sys.settrace on or off for one code object. */
static int
trace_locally(Core *core, Info *info, bool on)
{
    PyObject *code = (PyObject *)info->code;
    if (call_with_ints(core->set_local_events, code, A_LINE) < 0) return -1;
    settrace_local(info->code, on ? core->events_were : NULL, info->needs_opcodes || core->instructions);
    info->local = on;
    return call_with_ints(core->set_local_events, code, 0);
}
#endif

/* Turn them off for all code: 3.12 crashes where an instruction has such an event and the thread no trace function. */
static void
untrace_locally(Core *core)
{
#if HAS_LOCAL_EVENTS
    for (size_t i = 0; core->set_local_events && core->infos.e && i <= core->infos.mask; i++) {
        Info *f = core->infos.e[i].key ? core->infos.e[i].value : NULL;
        if (f && f->local && trace_locally(core, f, false) < 0) PyErr_Clear();
    }
#endif
}

static Thread *
current_thread(Core *core)
{
    uint64_t ident = PyThreadState_Get()->thread_id;
    for (Thread *t = core->threads; t; t = t->next) if (t->ident == ident) return t;
    return NULL;
}

static PyObject *core_clear(Core *core, PyObject *unused);

/* While a thread is at an event, another one may stop the tracer: what it uses is freed when it is done. */
static void
go_in(Core *core)
{
    core->inside++;
    Py_INCREF(core);
}

static void
go_out(Core *core)
{
    if (--core->inside == 0 && core->clear_later) Py_XDECREF(core_clear(core, NULL));
    Py_DECREF(core);
}

/* Tell Python of an error of ours, which is set: the trace ends, the program goes on. */
static void
report_failure(Core *core, Thread *t)
{
    PyObject *type, *error, *traceback;
    PyErr_Fetch(&type, &error, &traceback);
    PyErr_NormalizeException(&type, &error, &traceback);
    release(t);
    t->revisit = NULL;
    t->wild = true;
    t->scratch.n = 0;
    PyObject *done = QUIETLY(PyObject_CallMethod(core->tracer, "_failed", "O", error ? error : Py_None));
    Py_XDECREF(done);
    Py_XDECREF(type);
    Py_XDECREF(error);
    Py_XDECREF(traceback);
    PyErr_Clear();
}

static const char *const event_names[] = {"call", "exception", "line", "return", "", "", "", "opcode"};  /* of sys.settrace */

/* Tell of an event of the frame that is followed: a generator's is left at each yield. The tracer may be stopped then. */
static int
tell(Core *core, PyCodeObject *code, int what, PyObject *arg)
{
    if (what != PyTrace_EXCEPTION && what != PyTrace_RETURN) return 0;
    PyObject *told = Py_NewRef(core->told);
    bool comes_back = code->co_flags & (CO_GENERATOR | CO_COROUTINE | CO_ASYNC_GENERATOR);
    if (what == PyTrace_RETURN && !comes_back) core->followed = NULL;
    PyObject *done = QUIETLY(PyObject_CallFunction(told, "sO", event_names[what], arg ? arg : Py_None));
    Py_DECREF(told);
    Py_XDECREF(done);
    return done ? 0 : -1;
}

/* What the interpreter calls. An error of ours ends the trace and leaves the program alone. */
static int
hook(PyObject *self, PyFrameObject *frame, int what, PyObject *arg)
{
    Core *core = (Core *)self;
    Thread *t = current_thread(core);
    if (!t) return 0;
    frame_object_counts_not(PyThreadState_Get(), frame, what);
    bool user = t->user;
    if (core->on && !core->cut) {
        Info *info = known_info(core, frame_code(frame->f_frame));
        if (!info || info->in_scope) {
            PyObject *type, *value, *traceback;
            PyThreadState *ts = PyThreadState_Get();
            bool raised = raising(ts);
            if (raised) PyErr_Fetch(&type, &value, &traceback);
            Collector collector = collector_waits(ts);  /* or finalisers of the program would run inside of us */
            t->alone = !observed(core, ts);
            Recursion had = recursion_eased(ts);
            int failed = 0;
            go_in(core);
            if (!info) failed = !(info = info_of(t, frame_code(frame->f_frame)));
            bool begins_line = what == PyTrace_OPCODE && !failed && op_at(info, frame_lasti(frame->f_frame)) & OP_LINE_MISSED;
            if (begins_line) {
                account(t, frame, info, PyTrace_LINE);
                failed = on_event(t, frame, PyTrace_LINE, arg);
            }
            if (!failed && info->in_scope) account(t, frame, info, what);
            if (!failed && info->in_scope)
                failed = what == PyTrace_CALL ? on_call(t, frame) : on_event(t, frame, what, arg);
            if (!failed && core->followed == frame) failed = tell(core, frame_code(frame->f_frame), what, arg);
            recursion_as_before(ts, had);
            if (failed) {
                report_failure(core, t);
            }
            go_out(core);
            collector_goes_on(ts, collector);
            if (raised) PyErr_Restore(type, value, traceback);
            else if (raising(ts)) PyErr_Clear();
        }
    }
    if (user) {
        PyObject *done = PyObject_CallMethod(core->tracer, "_user_event", "OsO", (PyObject *)frame, event_names[what], arg ? arg : Py_None);
        if (!done) {  /* the program's trace function has failed: the interpreter forgets it, and ours with it */
            PyObject *type, *value, *traceback;
            PyErr_Fetch(&type, &value, &traceback);
            untrace_locally(core);
            PyEval_SetTrace(NULL, NULL);
            untrace_opcodes(frame);
            PyErr_Restore(type, value, traceback);
            return -1;
        }
        Py_DECREF(done);
    }
    return 0;
}
