/* One event: what is to be looked at for it, and what is written. */

enum { K_CALL, K_LINE, K_RETURN, K_YIELD, K_RESUME, K_RAISE, K_UNWIND, K_INSTRUCTION };

/* Of the memory of such records one is kept, for the next call. */
static Rec *
rec_new(Info *info)
{
    size_t size = sizeof(Rec) + ((size_t)info->nnames + 1) * sizeof(Val);
    Rec *r = info->spare;
    Val *stack = r ? r->stack : NULL;
    int capstack = r ? r->capstack : 0;
    info->spare = NULL;
    if (!r) r = must(malloc(size));
    memset(r, 0, size);
    r->stack = stack;
    r->capstack = capstack;
    r->vals = (Val *)(r + 1);
    return r;
}

static void
rec_drop(Thread *t, Rec *r)
{
    if (--r->users) return;
    recount(t, r, -r->counted);
    set_refs(t, &r->refs, 0, NULL, 0);
    set_stack_refs(t, &r->srefs, 0, NULL, 0);
    let_go(t, &r->left, r->left.n);
    free(r->left.p);
    for (int i = 0; i < r->nextra; i++) Py_DECREF(r->extra[i].name);
    free(r->extra);
    free(r->refs.p);
    free(r->srefs.p);
    map_free(&r->counts);
    if (r->info->spare) { free(r->stack); free(r); }
    else r->info->spare = r;
}

static void
entry_free(Thread *t, Entry *e)
{
    if (e->kept) recount(t, e->rec, -1);
    Rec *r = e->rec;
    if (e != &r->own) free(e);
    rec_drop(t, r);
}

static void
frames_del(Thread *t, void *frame)
{
    Entry *e = known_entry(t, frame);
    if (!e) return;
    map_del(&t->frames, (uint64_t)frame);
    t->cached_frame = NULL;
    entry_free(t, e);
}

static Entry *
frames_put(Thread *t, void *frame, Rec *r, bool comprehension)
{
    frames_del(t, frame);
    Entry *e = comprehension ? must(calloc(1, sizeof *e)) : &r->own;
    e->rec = r;
    e->code = frame_code(((PyFrameObject *)frame)->f_frame);
    e->comprehension = comprehension;
    e->last = -1;
    r->users++;
    map_put(&t->frames, (uint64_t)frame, e);
    t->cached_frame = NULL;
    if (!comprehension && r->info->keeps_roots) { e->kept = true; recount(t, r, 1); }
    return e;
}

/* The frame with the enclosing one, if it is a comprehension's: outermost first (_views). */
static int
views_of(Thread *t, PyFrameObject *f, View *views)
{
    if (view_of(t, f, views) < 0) return -1;
    Entry *e = entry_of(t, f);
    if (!e || !e->comprehension) return 1;
    View found[MAX_VIEWS];
    int n = 1;
    found[0] = views[0];
    while (n < MAX_VIEWS && e && e->comprehension) {
        f = PyFrame_GetBack(f);
        if (!f) break;
        pys_add(&t->held, (PyObject *)f);
        if (view_of(t, f, &found[n++]) < 0) return -1;
        e = entry_of(t, f);
    }
    for (int i = 0; i < n; i++) views[i] = found[n - 1 - i];
    return n;
}

static bool is_iterator_type(Thread *t, PyObject *o)
{
    PyTypeObject *k = Py_TYPE(o);
    if (k == &PyGen_Type || k == &PyCoro_Type || k == &PyAsyncGen_Type) return true;
    TypeInfo *info = type_info(t, k);
    if (!info) { PyErr_Clear(); return false; }
    return info->mode == M_CONTENT && info->head != Py_None && PyUnicode_CompareWithASCIIString(info->head, "iterator") == 0;
}

/* Whether a generator is the one that runs in a frame (runs_in). */
static bool
runs_in(PyObject *o, PyFrameObject *f)
{
    PyTypeObject *k = Py_TYPE(o);
    if (k != &PyGen_Type && k != &PyCoro_Type && k != &PyAsyncGen_Type) return false;
    return (IFrame *)&((PyGenObject *)o)->gi_iframe == f->f_frame;
}

static void
write_text_object(Buf *b, PyObject *text)
{
    buf_json(b, text, PyUnicode_GET_LENGTH(text));
}

/* Whether an exception is emptying the stack of a frame (_unwinds). */
static bool
unwinds(Thread *t, const View *v)
{
    uint64_t raised = (uint64_t)map_get(&t->raised, (uint64_t)v->f);
    return raised && ((int)(raised - 2) == v->offset || op_at(v->info, v->offset) & (OP_ASYNC_ENDS | OP_CLEANUP_THROW));
}

/* Where the calling frame stands (_caller). */
static int
caller_of(Thread *t, Rec *r, PyFrameObject *frame)
{
    Buf *b = &t->caller;
    b->n = 0;
    PyFrameObject *above = PyFrame_GetBack(frame), *below = frame;  /* below: what the calling frame runs */
    PyObject *via = NULL;
    Entry *e = NULL;
    while (above && !(e = entry_of(t, above))) {
        pys_add(&t->held, (PyObject *)above);
        below = above;
        via = (PyObject *)frame_code(above->f_frame);
        above = PyFrame_GetBack(above);
    }
    r->via = via != NULL;
    if (!above) return 0;
    pys_add(&t->held, (PyObject *)above);
    Rec *parent = t->parent = e->rec;
    if (parent == r) return 0;
    View views[MAX_VIEWS];
    int n = views_of(t, above, views);
    if (n < 0) return -1;
    View *top = &views[n - 1];
    bool freeing = r->closing || r->info->is_del || unwinds(t, top);
    PyObject *via_text = NULL;
    int first = 0, size = entered_from_python(below->f_frame) ? 0 : operand_slots(top, &first);
    Slot *slots = top->i->localsplus + top->info->nnames + first;
    Pys operands = {0};
    bool whole = !freeing;
    for (int i = 0; i < size && whole; i++) if (object_in(slots[i]) && !type_at(object_in(slots[i]))) whole = false;
    for (int i = 0; i < size && whole; i++) {
        PyObject *o = object_in(slots[i]);
        if (!o) continue;
        PyTypeObject *k = Py_TYPE(o);
        bool looked_for = map_get(&LOOKED_FOR, (uint64_t)k);
        /* a generator that runs and has one reference may be closing because it is being freed */
        if (looked_for && Py_REFCNT(o) == 1 && (k == &PyGen_Type || k == &PyCoro_Type || k == &PyAsyncGen_Type)
            && ((PyGenObject *)o)->gi_frame_state == FRAME_EXECUTING) looked_for = false;
        if (!looked_for) o = Py_None;
        hold(t, o);
        pys_add(&operands, o);
    }
    if (via) via_text = QUIETLY(PyObject_CallMethod(t->fallback, "qualified", "O", ((PyCodeObject *)via)->co_qualname));
    else if (!size || (operands.n && operands.p[0] == Py_None)) via_text = Py_NewRef(Py_None);  /* it is no function in C */
    else {
        PyObject *callable = NULL;
        for (int i = 0; i < size && !callable; i++) callable = object_in(slots[i]);
        via_text = QUIETLY(PyObject_CallMethod(t->fallback, "via", "OK", operands.n ? operands.p[0] : Py_None,
                                               (unsigned long long)(operands.n ? 0 : (uint64_t)callable)));
    }
    if (!via_text) { free(operands.p); return -1; }
    pys_add(&t->held, via_text);
    r->via = via_text != Py_None;
    Pys stack = {0};
    for (int i = 0; i < n; i++) view_pending(t, &views[i], unwinds(t, &views[i]), &stack);
    if (via_text != Py_None)
        for (size_t i = 0; i < operands.n; i++)
            if (is_iterator_type(t, operands.p[i]) && !runs_in(operands.p[i], frame)) pys_add(&stack, operands.p[i]);
    free(operands.p);
    Buf changed = {0}, stack_text = {0};
    int failed = frame_changes(t, parent, views, n, &stack, &changed, &stack_text);
    free(stack.p);
    if (!failed) {
        buf_lit(b, "{\"frame\":");
        buf_int(b, parent->number);
        buf_lit(b, ",\"offset\":");
        buf_int(b, top->offset);
        PyObject *at = PyList_GET_ITEM(top->info->at, top->offset / 2);
        if (at != Py_None) buf_text(b, at);
        if (via_text != Py_None) { buf_lit(b, ",\"via\":"); write_text_object(b, via_text); }
        if (changed.n) { buf_lit(b, ",\"locals\":"); buf_put(b, changed.p, changed.n); }
        if (stack_text.n) { buf_lit(b, ",\"stack\":"); buf_put(b, stack_text.p, stack_text.n); }
        buf_byte(b, '}');
    }
    buf_free(&changed);
    buf_free(&stack_text);
    return failed;
}

static int
by_number(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

static int
give_up(Thread *t, const char *why)
{
    PyObject *text = PyUnicode_FromString(why);
    if (!text) return -1;
    PyObject *done = QUIETLY(PyObject_CallMethodOneArg(t->core->tracer, S_give_up, text));
    Py_DECREF(text);
    if (!done) return -1;
    release(t);
    Py_DECREF(done);
    return 0;
}

/* Whether other code may run between two lines: of another thread, or of a trace function, profiler or monitor. What picked the
   frame that is followed (sandbox/inside/calls.py) only counts. */
static bool
observed(const Core *core, PyThreadState *ts)
{
    if (ts->next || ts->prev || (ts->c_profilefunc && ts->c_profileobj != core->picked_by)) return true;
#if PY_VERSION_HEX >= 0x030C0000
    for (int tool = 0; tool < 6; tool++) {
        PyObject *name = ts->interp->monitoring_tool_names[tool];
        if (name && PyUnicode_CompareWithASCIIString(name, OWN_NAME) != 0) return true;
    }
#endif
    return false;
}

static void
see_again(Thread *t, Obj *obj)
{
    if (obj->visited == t->stamp || obj->dead) return;
    obj->visited = t->stamp;
    t->visited++;
    PyObject *o = obj->address;
    if (Py_TYPE(o) != &PyFunction_Type || !obj->known || obj->c.nf || !function_is_inert(o)) enqueue(t, o, obj);
}

/* From this event on nothing that was seen earlier counts. */
static void
look_again(Thread *t)
{
    t->anything++;
    t->quiet = t->stamp;
    t->drains = false;
    untouch(t);
}

/* The variables of the module are not looked through where none of them was assigned: unless one is to be looked at. */
static void
find_among_globals(Thread *t, Rec *r)
{
    for (int k = 0; k < t->nglobals; k++) {
        Globals *g = &t->globals[k];
        if (g->file != r->info->file && PyUnicode_Compare(g->file, r->info->file) != 0) continue;
        for (size_t i = 0; i < g->refs.n; i++) if (g->refs.p[i]->touched) g->seen = 0;
    }
}

/* Whether an iterator that this event has not seen may have been drawn from: something refers to it, not only a loop of a frame. */
static bool
drawn_unseen(const Thread *t)
{
    for (size_t i = 0; i < t->iterators.n && t->moved != t->iterators.n; i++) {
        const Obj *o = t->iterators.p[i];
        if (o->visited != t->stamp && (o->rc || o->roots > o->on_stacks)) return true;
    }
    return false;
}

static void
mark_roots(Thread *t, const Objs *roots)
{
    for (size_t i = 0; i < roots->n; i++) roots->p[i]->root_of = t->stamp;
}

/* Mark what an event is about: an event that does not show the frame's stack is not about what lay there at the one before. */
static void
mark_all_roots(Thread *t, const Rec *r, bool shows_stack)
{
    mark_roots(t, &r->refs);
    if (shows_stack) mark_roots(t, &r->srefs);
    if (t->parent && t->parent != r) {
        mark_roots(t, &t->parent->refs);
        mark_roots(t, &t->parent->srefs);
    }
    mark_roots(t, &t->in_flight);
    for (int k = 0; k < t->nglobals; k++) {
        Globals *g = &t->globals[k];
        if (g->file == r->info->file || PyUnicode_Compare(g->file, r->info->file) == 0) mark_roots(t, &g->refs);
    }
}

/* How many steps of reference lead from a root of this event to an object, by owners whose content is as it was; 0 if none are
   known. */
static int
steps_to(const Thread *t, const Obj *obj)
{
    int steps = 1;
    for (const Obj *o = obj; o && !o->dead && steps < t->core->depth; o = o->hint, steps++) {
        if (o != obj && o->touched) return 0;
        if (o->root_of == t->stamp) return steps;
    }
    return 0;
}

/* Look at what may have changed and is no variable's value. 1: everything must be looked at instead, where nothing is known to lead
   to it, or a limit on depth is near. */
static int
look_at_touched(Thread *t, Rec *r, bool shows_stack)
{
    bool left = false, beyond = t->beyond;
    for (size_t i = 0; i < t->touched.n && !left; i++) left = t->touched.p[i]->touched && !t->touched.p[i]->dead;
    if (!left) return 0;
    mark_all_roots(t, r, shows_stack);
    for (bool more = true; more;) {
        more = left = false;
        for (size_t i = 0; i < t->touched.n; i++) {
            Obj *obj = t->touched.p[i];
            if (!obj->touched || obj->dead) continue;
            if (map_get(&t->objects, (uint64_t)obj->address) != obj) continue;  /* it was freed */
            int steps = steps_to(t, obj);
            if (!steps) { left = true; continue; }
            more = true;
            obj->visited = t->stamp;
            obj->touched = 0;
            t->visited++;
            t->moved += obj->moves;
            t->depth = steps - 1;
            enqueue(t, obj->address, obj);
            if (finish(t) < 0) return -1;
        }
    }
    if (t->beyond && !beyond) {  /* the way to it need not be the shortest */
        for (size_t i = 0; i < t->nsegments; i++) t->segments[i].obj->known = false;
        t->objects_text.n = t->nsegments = 0;
        left = true;
    }
    return left;
}

/* Queue everything that an event is about, in its order. An event that does not show the frame's stack is not about
   what lay there at the one before: that may be freed by now (a loop's iterator, once a value is returned from the loop). */
static int
see_everything(Thread *t, Rec *r, bool shows_stack)
{
    t->stamp = ++t->core->stamps;
    look_again(t);
    t->nqueue = t->visited = 0;
    Rec *of[] = {r, t->parent};
    for (int k = 0; k < 2; k++) {
        if (!of[k] || (k && of[1] == r)) continue;
        for (size_t i = 0; i < of[k]->refs.n; i++) see_again(t, of[k]->refs.p[i]);
        if (k || shows_stack) for (size_t i = 0; i < of[k]->srefs.n; i++) see_again(t, of[k]->srefs.p[i]);
    }
    for (size_t i = 0; i < t->in_flight.n; i++) see_again(t, t->in_flight.p[i]);
    for (int k = 0; k < t->nglobals; k++) {
        Globals *g = &t->globals[k];
        if (g->file != r->info->file && PyUnicode_Compare(g->file, r->info->file) != 0) continue;
        g->seen = t->stamp;
        for (size_t i = 0; i < g->revisit.n; i++) {
            Val v;
            if (value_of(t, g->revisit.p[i], &v) < 0) return -1;
        }
    }
    return 0;
}

/* Whether an event is left out because the frame has had so many like it (_repeats). */
static bool
repeats(Thread *t, int kind, Rec *r, PyFrameObject *frame, int line)
{
    if (kind == K_CALL || kind == K_RETURN || kind == K_UNWIND) return false;
    if (!r->skipped && kind != K_YIELD) {
        uint64_t place = (uint64_t)(line < 0 ? 0 : line);
        if (kind == K_INSTRUCTION)
            place = ((uint64_t)frame_code(frame->f_frame) >> 4 << 17) + (uint64_t)frame_lasti(frame->f_frame) / 2;
        place = place << 3 | (uint64_t)kind;
        uintptr_t count = (uintptr_t)map_get(&r->counts, place);
        r->repeats = count >= (uintptr_t)t->core->repetitions;
        if (!r->repeats) map_put(&r->counts, place, (void *)(count + 1));
        r->skipped = r->repeats && kind == K_RESUME;
    } else if (kind == K_YIELD) r->repeats = r->skipped;
    if (!r->repeats) return false;
    t->left_out[REPEATED]++;
    r->line = line < 0 ? (r->line ? r->line : r->info->first_line) : line;
    if (kind != K_INSTRUCTION) {
        int lasti = frame_lasti(frame->f_frame);
        r->last_line = r->line;
        r->last_offset = frame_code(frame->f_frame) != r->info->code ? -1 : lasti < 0 ? lasti : r->info->owner[lasti / 2];
    }
    return true;
}

static int
put_event(Thread *t, int kind, Rec *r, int line, int offset, Buf **texts)
{
    r->line = line;
    if (kind != K_INSTRUCTION) {
        r->last_line = line;
        r->last_offset = offset;
    }
    int failed = add_to_block(t, kind, r, line, offset, texts, &t->output);
    t->output.n = 0;
    t->index++;
    return failed;
}

/* How many slots of the value stack `view_stack` looks at, and which of them are values; -1 where that says not all. */
static int
stack_shape(const View *v, const char **tags)
{
    int depth, first = v->info->nnames, top = filled_slots(v->i);
    *tags = tags_at(v, &depth);
    if (depth < 0 || v->info->iterates || (top < 0 && op_at(v->info, v->offset) & OP_NO_INTERRUPT)) return -1;
    return top < 0 || top - first == depth ? depth : -1;
}

/* What most lines are: one that follows on another of its frame, and in between at most variables that hold atoms were assigned. Writes
   what changed and says so; false, with nothing done, where the event is to be looked at in full. */
static bool
quiet_line(Thread *t, Rec *r, PyFrameObject *frame, View *v)
{
    if (t->wild || t->beyond || t->drains || t->iterates || t->dirty || t->reread || t->touched.n || t->maybe.n || t->nreplaced || r->left.n || t->left.n || r->seen != t->stamp || r->seen < t->quiet
        || r->nextra || t->objects.used * 2 > (size_t)t->core->objects || view_of(t, frame, v) < 0 || v->info != r->info) return false;
    const Info *info = v->info;
    uint64_t stored = t->at.stored | info->cells;
    const char *tags;
    if (!info->nnames || t->at.depth < 0 || stack_shape(v, &tags) != t->at.depth || t->at.left < t->at.depth || memcmp(tags, t->at.tags, (size_t)t->at.depth)
        || !refers_as_before(t, r, v, stored)) return false;
    Globals *g = NULL;
    for (int i = 0; i < t->nglobals && !g; i++) if (t->globals[i].file == info->file) g = &t->globals[i];
    if (!g || g->dict != v->i->f_globals || g->seen < t->quiet || g->version != dict_version(g->dict)) return false;
    Val now[64];
    for (uint64_t rest = stored; rest; rest &= rest - 1) {
        int slot = __builtin_ctzll(rest);
        PyObject *o = local_of(v->i, slot);
        now[slot] = (Val){V_UNBOUND, 0};
        if (o ? !atom_of(t, o, &now[slot]) : r->vals[slot].a != V_UNBOUND) return false;
    }
    r->seen = t->stamp = ++t->core->stamps;
    t->stack.n = t->global_text.n = t->objects_text.n = t->caller.n = t->value.n = 0;
    Buf *changed = &t->locals;
    changed->n = 0;
    for (int k = 0; stored && k < info->nnames; k++) {
        int slot = info->order[k];
        if (!(stored >> slot & 1) || info->hidden[slot] || same(now[slot], r->vals[slot])) continue;
        PyObject *o = local_of(v->i, slot);
        write_name(changed, info->names[slot]);
        if (o) write_changed(t, changed, o, r->vals[slot], now[slot]);
        r->vals[slot] = now[slot];
    }
    if (changed->n) buf_byte(changed, '}');
    return true;
}

static void
end_loops_at(Thread *t, int kind, const View *v)
{
    if (kind != K_RAISE && t->loops.used) end_loops(t, v, kind == K_RETURN || kind == K_UNWIND ? 0 : view_depth(v));
}

/* Write one event of `r`. `frame` is its frame, or a comprehension's inside it (_emit). */
static int
emit(Thread *t, int kind, Rec *r, PyFrameObject *frame, int line, PyObject *value)
{
    Core *core = t->core;
    if (core->repetitions && repeats(t, kind, r, frame, line)) {
        View left_out;
        if (t->loops.used && view_of(t, frame, &left_out) == 0) end_loops_at(t, kind, &left_out);
        return PyErr_Occurred() ? -1 : 0;
    }
    if (t->index >= core->events) return give_up(t, "events");
    if (has_subinterpreters()) return give_up(t, "subinterpreters");
    if (line < 0) line = r->line ? r->line : r->info->first_line;  /* an instruction without a line */
    Buf *texts[] = {&t->locals, &t->stack, &t->global_text, &t->objects_text, &t->caller, &t->value};
    View quiet;
    if (kind == K_LINE && t->at.follows && !core->instructions && !core->repetitions && quiet_line(t, r, frame, &quiet)) {
        t->at.stored = 0;
        t->at.left = INT_MAX;
        t->at.shown = true;
        return put_event(t, kind, r, line, quiet.offset, texts);
    }
    t->ngone = 0;
    if (t->dirty) {
        t->dirty = false;
        forget(t);
    }
    t->stamp = ++core->stamps;
    t->nqueue = t->nsegments = 0;
    t->visited = 0;
    t->depth = 0;
    t->objects_text.n = t->caller.n = t->value.n = 0;
    View views[MAX_VIEWS];
    int n = views_of(t, frame, views);
    if (n < 0) return -1;
    View *top = &views[n - 1];
    end_loops_at(t, kind, top);
    bool shows_stack = kind == K_CALL || kind == K_LINE || kind == K_RESUME || kind == K_YIELD;
    Pys *stack = &t->values;
    stack->n = 0;
    if (kind == K_INSTRUCTION) {
        shows_stack = true;
        for (int i = 0; i < n - 1; i++) view_pending(t, &views[i], false, stack);
        view_whole_stack(t, top, stack);
    } else if (shows_stack) {
        for (int i = 0; i < n - 1; i++) view_pending(t, &views[i], false, stack);
        view_stack(t, top, kind == K_YIELD, stack);
        if (kind == K_RESUME && stack->n) value = stack->p[--stack->n];
    }
    t->doubt = false;
    t->moved = t->fresh = 0;
    t->parent = NULL;
    t->reread |= t->wild && (t->named || any_renamed(t->core));  /* a text may be another, and versions of dicts do not tell */
    if (t->wild || t->beyond || !t->alone || t->objects.used * 2 > (size_t)core->objects) look_again(t);
    t->wild = t->beyond = false;
    if (frame_changes(t, r, views, n, shows_stack ? stack : NULL, &t->locals, &t->stack) < 0) return -1;
    if ((kind == K_CALL || kind == K_RESUME) && caller_of(t, r, frame) < 0) return -1;
    t->refs.n = 0;
    if (value) {
        t->depth = 0;
        if (write_value(t, &t->value, value) < 0) return -1;
    }
    set_refs(t, &t->in_flight, 1, t->refs.p, t->refs.n);
    if (t->touched.n) find_among_globals(t, r);
    if (global_changes(t, r, frame) < 0) return -1;
    int again = t->quiet != t->stamp && t->doubt;
    if (!again) {
        if (finish(t) < 0) return -1;
        if (t->quiet != t->stamp) again = t->drains && drawn_unseen(t) ? 1 : look_at_touched(t, r, shows_stack);
        if (again < 0) return -1;
    }
    if (again && (see_everything(t, r, shows_stack) < 0 || finish(t) < 0)) return -1;
    t->drains = t->iterates = t->reread = false;
    untouch(t);
    if (n == 1 && t->at.frame == top->i) {
        t->at.stored = 0;
        t->at.left = INT_MAX;
        t->at.shown = kind == K_LINE;
        t->at.depth = stack_shape(top, &t->at.tags);
    }
    t->depth = 0;
    if (t->objects_text.n || t->locals.n || t->stack.n || t->global_text.n || r->left.n || t->left.n) {
        let_go(t, &r->left, r->left.n);
        let_go(t, &t->left, t->left.n);
        t->dirty = false;
        forget(t);
    }
    if (t->ngone) {
        qsort(t->gone, t->ngone, sizeof(uint64_t), by_number);
        write_gone(t);
    }
    if (t->objects_text.n) { t->objects_text.p[0] = '{'; buf_byte(&t->objects_text, '}'); }
    int failed = put_event(t, kind, r, line, top->offset, texts);
    if (kind != K_INSTRUCTION && top->info != r->info) r->last_offset = -1;
    release(t);
    return failed;
}
