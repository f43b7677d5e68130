/* Frames: code objects, variables, the value stack, globals, and what of them changed (FrameView in frames.py). */

#define MAX_VIEWS 16

static int *
int_array(PyObject *list)
{
    Py_ssize_t n = PyList_GET_SIZE(list);
    int *a = must(malloc((size_t)(n + 1) * sizeof(int)));
    for (Py_ssize_t i = 0; i < n; i++) a[i] = (int)PyLong_AsLong(PyList_GET_ITEM(list, i));
    return a;
}

/* What is known of a code object; NULL if nothing yet. */
static inline Info *
known_info(Core *core, PyCodeObject *code)
{
    if (core->last_info && core->last_info->code == code) return core->last_info;
    Info *info = map_get(&core->infos, (uint64_t)code);
    if (info) core->last_info = info;
    return info;
}

/* What is known of a code object; made once, by Python (`code_facts` in native.py). */
static Info *
info_of(Thread *t, PyCodeObject *code)
{
    Core *core = t->core;
    Info *info = known_info(core, code);
    if (info) return info;
    PyObject *file = PyDict_GetItemWithError(core->scope, code->co_filename);
    if (!file && PyErr_Occurred()) return NULL;
    info = must(calloc(1, sizeof *info));
    info->code = (PyCodeObject *)Py_NewRef(code);
    if (!file) { map_put(&core->infos, (uint64_t)code, info); return info; }
    PyObject *d = QUIETLY(PyObject_CallMethodOneArg(t->fallback, S_code_facts, (PyObject *)code));
    Info *other = d ? map_get(&core->infos, (uint64_t)code) : NULL;
    if (!d || other) {  /* another thread has asked meanwhile */
        Py_XDECREF(d);
        Py_DECREF(code);
        free(info);
        return other;
    }
    if (d == Py_None) { Py_DECREF(d); map_put(&core->infos, (uint64_t)code, info); return info; }  /* not asked for */
    info->held = d;
    info->in_scope = true;
    info->file = Py_NewRef(file);
#define GET(name) PyDict_GetItemString(d, name)
#define INT(name) ((int)PyLong_AsLong(GET(name)))
    info->function = GET("function");
    info->facts = GET("facts");
    info->optimized = INT("optimized");
    info->iterates = INT("iterates");
    info->is_module = INT("is_module");
    info->is_comprehension = INT("is_comprehension");
    info->needs_opcodes = INT("needs_opcodes");
    info->is_lambda = INT("is_lambda");
    info->is_del = INT("is_del");
    info->keeps_roots = INT("keeps_roots");
    info->first_line = INT("first_line");
    info->first_resume = INT("first_resume");
    info->nparams = INT("nparams");
    info->free_from = INT("free_from");
    PyObject *names = GET("names");
    info->nnames = (int)PyTuple_GET_SIZE(names);
    info->names = &PyTuple_GET_ITEM(names, 0);
    int *hidden = int_array(GET("hidden"));
    info->hidden = must(malloc((size_t)info->nnames + 1));
    for (int i = 0; i < info->nnames; i++) info->hidden[i] = hidden[i];
    free(hidden);
    info->order = int_array(GET("order"));
    info->owner = int_array(GET("owner"));
    info->nunits = (int)PyList_GET_SIZE(GET("owner"));
    int *ops = int_array(GET("op"));
    info->op = must(malloc((size_t)info->nunits * sizeof(uint16_t)));
    for (int i = 0; i < info->nunits; i++) info->op[i] = (uint16_t)ops[i];
    free(ops);
    info->depth = int_array(GET("depth"));
    info->tags = int_array(GET("tags"));
    PyObject *pool = GET("pool");
    info->pool = must(malloc((size_t)PyBytes_GET_SIZE(pool) + 1));
    memcpy(info->pool, PyBytes_AS_STRING(pool), (size_t)PyBytes_GET_SIZE(pool));
    info->kept = int_array(GET("kept"));
    info->caught = int_array(GET("caught"));
    info->operands = int_array(GET("operands"));
    info->left = int_array(GET("left"));
    info->comprehension = int_array(GET("comprehension"));
    info->enters = must(malloc((size_t)info->nunits));
    memset(info->enters, -1, (size_t)info->nunits);
    info->guarded = int_array(GET("guarded"));
    info->lines = int_array(GET("lines"));
    info->awaits = INT("awaits");
    info->texts = must(calloc((size_t)info->nunits, sizeof(PyObject *)));
    info->effect = int_array(GET("effect"));
    info->then = int_array(GET("then"));
    PyObject *stored = GET("stored"), *acts = GET("acts");
    info->stored = must(calloc((size_t)info->nunits + 1, sizeof(uint64_t)));
    for (Py_ssize_t n = 0; n < PyList_GET_SIZE(stored) && n < info->nunits; n++)
        info->stored[n] = PyLong_AsUnsignedLongLongMask(PyList_GET_ITEM(stored, n));
    for (int n = 0; n < info->nnames && n < 64; n++)
        if (PyBytes_AS_STRING(info->code->co_localspluskinds)[n] & (CO_FAST_CELL | CO_FAST_FREE)) info->cells |= 1ull << n;
    info->acts = must(calloc((size_t)PyList_GET_SIZE(acts) + 1, sizeof(Act)));
    for (Py_ssize_t n = 0; n < PyList_GET_SIZE(acts); n++) {
        Act *act = &info->acts[n];
        if (!PyArg_ParseTuple(PyList_GET_ITEM(acts, n), "iiiOOOiiiiiiiiii", &act->kind, &act->since, &act->slot, &act->name, &act->attribute,
                              &act->method, &act->arguments, &act->on_list, &act->on_dict, &act->on_set, &act->on_still,
                              &act->key_kind, &act->key, &act->position, &act->first, &act->last)) return NULL;
        PyObject **texts[] = {&act->name, &act->attribute, &act->method};  /* interned: names of the code object; None is none */
        for (int k = 0; k < 3; k++) if (*texts[k] == Py_None) *texts[k] = NULL;
    }
    info->nguarded = (int)PyList_GET_SIZE(GET("guarded")) / 2;
    info->at = GET("at");
#undef INT
#undef GET
    if (PyErr_Occurred()) return NULL;
    map_put(&core->infos, (uint64_t)code, info);
    return info;
}

static inline int
op_at(const Info *info, int offset)
{
    return offset < 0 || offset / 2 >= info->nunits ? 0 : info->op[offset / 2];
}

static int
view_of(Thread *t, PyFrameObject *f, View *v)
{
    v->f = f;
    v->i = f->f_frame;
    v->info = info_of(t, frame_code(v->i));
    if (!v->info) return -1;
    int lasti = frame_lasti(v->i);
    v->offset = lasti < 0 || !v->info->in_scope ? lasti : v->info->owner[lasti / 2];
    return 0;
}

static int
view_of_iframe(Thread *t, IFrame *i, View *v)
{
    v->f = NULL;
    v->i = i;
    v->info = info_of(t, frame_code(i));
    if (!v->info) return -1;
    int lasti = frame_lasti(i);
    v->offset = lasti < 0 || !v->info->in_scope ? lasti : v->info->owner[lasti / 2];
    return 0;
}

static inline bool alive(PyObject *o) { return o && Py_REFCNT(o) != 0; }

/* The rules for stale pointers are those of frames.py: a slot that the interpreter may have let go of is followed only when
   there is memory, in it a plausible count of references, and an object of a type. */
/* The kernel reads the mask before it finds that there is no such way to use it: a quarter of what `mincore` costs. */
static bool
readable_at(const void *p)
{
    return syscall(SYS_rt_sigprocmask, ~0, p, NULL, 8) != 0 && errno != EFAULT;
}

static PyTypeObject *
type_at(PyObject *o)
{
    if (((uintptr_t)o & 7) || !readable_at(o) || !readable_at(&o->ob_type)) return NULL;
    uint64_t count = references_at(o);
    return count > 0 && count < (uint64_t)1 << 32 ? Py_TYPE(o) : NULL;
}

static bool
holds_object(PyObject *o)
{
    PyTypeObject *kind = o ? type_at(o) : NULL, *meta = kind ? type_at((PyObject *)kind) : NULL;
    return meta && (meta == &PyType_Type || (type_at((PyObject *)meta) == &PyType_Type && PyType_FastSubclass(meta, Py_TPFLAGS_TYPE_SUBCLASS)));
}

/* A function as a method, as `super` binds it (_bound); held until the event is over. */
static PyObject *
bound(Thread *t, PyObject *function, PyObject *owner)
{
    PyTypeObject *k = Py_TYPE(function);
    bool plain = k == &PyFunction_Type || k == &PyMethodDescr_Type || k == &PyWrapperDescr_Type;
    PyObject *method = plain ? k->tp_descr_get(function, owner, (PyObject *)Py_TYPE(owner)) : PyMethod_New(function, owner);
    pys_add(&t->held, must(method));
    return method;
}

static void
loop_iterator_free(SequenceIterator *it)
{
    PyObject_GC_Track(it);  /* as it is freed */
    Py_DECREF(it);
}

/* From 3.15 on a loop over a list, tuple, text or bytes has no iterator: the sequence lies on the stack, and above it the number
   of its next item. It is shown with the iterator that earlier versions have, one for each slot. NULL with an error set. */
static PyObject *
loop_iterator(Thread *t, const Slot *slot, PyObject *over, long next)
{
    PyTypeObject *kind = Py_TYPE(over) == &PyList_Type ? T_listiter : Py_TYPE(over) == &PyTuple_Type ? T_tupleiter
        : Py_TYPE(over) == &PyBytes_Type ? T_bytesiter : PyUnicode_IS_ASCII(over) ? T_asciiiter : T_striter;
    SequenceIterator *it = map_get(&t->loops, (uint64_t)slot);
    if (it && Py_TYPE(it) != kind && !it->over) {
        map_del(&t->loops, (uint64_t)slot);
        loop_iterator_free(it);
        it = NULL;
    }
    if (!it) {
        if (!(it = (SequenceIterator *)PyObject_GetIter(over))) return NULL;
        PyObject_GC_UnTrack(it);  /* nobody is to find it */
        Py_CLEAR(it->over);
        map_put(&t->loops, (uint64_t)slot, it);
    }
    it->index = next;
    if (!it->over) {
        it->over = Py_NewRef(over);
        pys_add(&t->attached, (PyObject *)it);
    }
    return (PyObject *)it;
}

static inline bool
loops_without_iterator(PyObject *o)
{
    return o && (PyList_CheckExact(o) || PyTuple_CheckExact(o) || PyUnicode_CheckExact(o) || PyBytes_CheckExact(o));
}

/* Objects in `count` slots of the value stack that are data. doubtful: the topmost of them may be gone. */
static void
stack_values(Thread *t, const View *v, int count, int depth, const char *tags, bool doubtful, Pys *to)
{
    Slot *slots = v->i->localsplus + v->info->nnames;
    for (int p = 0; p < count; p++) {
        if (tags && p < depth && !tags[p]) continue;
        PyObject *o = object_in(slots[p]);
        if (is_number(slots[p])) {
            PyObject *below = p ? object_in(slots[p - 1]) : NULL;
            if (to->n && to->p[to->n - 1] == below && loops_without_iterator(below))
                to->p[to->n - 1] = must(loop_iterator(t, &slots[p], below, number_in(slots[p])));
            else {
                pys_add(&t->held, o = must(PyLong_FromLong(number_in(slots[p]))));
                pys_add(to, o);
            }
            continue;
        }
        if (doubtful ? !holds_object(o) : !alive(o)) continue;
        if (Py_TYPE(o) == &PyCoro_Type) {
            PyObject *found = PyObject_GetAttrString(o, "cr_code");
            PyCodeObject *code = (PyCodeObject *)found;
            PyObject *name = code ? code->co_name : NULL;
            bool comprehension = name && (PyUnicode_CompareWithASCIIString(name, "<listcomp>") == 0
                || PyUnicode_CompareWithASCIIString(name, "<setcomp>") == 0
                || PyUnicode_CompareWithASCIIString(name, "<dictcomp>") == 0);
            Py_XDECREF(found);
            if (comprehension) continue;
        }
        if (tags && p < depth && tags[p] == IS_METHOD && p + 1 < count && alive(object_in(slots[p + 1]))) {
            o = bound(t, o, object_in(slots[p + 1]));
            p++;
        } else keep(t, o);
        pys_add(to, o);
    }
}

static inline const char *
tags_at(const View *v, int *depth)
{
    int unit = v->offset / 2;
    if (v->offset < 0 || unit >= v->info->nunits || v->info->depth[unit] < 0) { *depth = -1; return NULL; }
    *depth = v->info->depth[unit];
    return v->info->pool + v->info->tags[unit];
}

/* FrameView.depth */
static int
view_depth(const View *v)
{
    int first = v->info->nnames, top = filled_slots(v->i), depth;
    tags_at(v, &depth);
    int count = top >= first ? top - first : top >= 0 || depth < 0 ? 0 : depth;
    return count - (top < 0 && op_at(v->info, v->offset) & OP_NO_INTERRUPT);
}

/* Forget the loops without an iterator whose slots are no longer in use: the next loop there is another (FrameView.end_loops). The
   jump back to the loop around one is an event, so none ends and begins unseen. */
static void
end_loops(Thread *t, const View *v, int count)
{
    Slot *slots = v->i->localsplus + v->info->nnames;
    for (int p = 1; t->loops.used && p < v->info->code->co_stacksize; p++) {
        SequenceIterator *it = map_get(&t->loops, (uint64_t)&slots[p]);
        if (!it || it->over || (p < count && is_number(slots[p]) && loops_without_iterator(object_in(slots[p - 1])))) continue;
        map_del(&t->loops, (uint64_t)&slots[p]);
        loop_iterator_free(it);
    }
}

/* FrameView.stack */
static void
view_stack(Thread *t, const View *v, bool yields, Pys *to)
{
    int depth, count = view_depth(v) - (yields && KEEPS_YIELDED);
    const char *tags = tags_at(v, &depth);
    size_t from = to->n;
    stack_values(t, v, count, depth, tags, false, to);
    if (v->info->iterates) {
        PyObject *source = local_of(v->i, 0);
        if (!alive(source)) return;
        for (size_t i = from; i < to->n; i++) if (to->p[i] == source) return;
        hold(t, source);
        pys_add(to, source);
    }
}

/* FrameView.whole_stack: NULL for an empty slot */
static void
view_whole_stack(Thread *t, const View *v, Pys *to)
{
    int first = v->info->nnames, top = filled_slots(v->i), depth;
    const char *tags = tags_at(v, &depth);
    int count = top >= first ? top - first : top >= 0 || depth < 0 ? 0 : depth;
    Slot *slots = v->i->localsplus + first;
    for (int p = 0; p < count; p++) {
        PyObject *o = object_in(slots[p]);
        if (o && p < depth && tags[p] == IS_METHOD && p + 1 < count) {
            PyObject *owner = object_in(slots[p + 1]);  /* 3.13 may leave it bound, and none beside it */
            if (owner) o = bound(t, o, owner);
            else hold(t, o);
            if (!NULL_ABOVE) pys_add(to, NULL);
            pys_add(to, o);
            if (NULL_ABOVE) pys_add(to, NULL);
            p++;
            continue;
        }
        if (is_number(slots[p])) {
            PyObject *below = p ? object_in(slots[p - 1]) : NULL;
            if (loops_without_iterator(below)) to->p[to->n - 1] = must(loop_iterator(t, &slots[p], below, number_in(slots[p])));
            else pys_add(&t->held, o = must(PyLong_FromLong(number_in(slots[p]))));  /* else empty, as above any other iterator */
        } else if (o) hold(t, o);
        pys_add(to, o);
    }
    if (v->info->awaits >= v->offset && local_of(v->i, 0)) {
        hold(t, local_of(v->i, 0));
        pys_add(to, local_of(v->i, 0));
    }
}

/* FrameView.pending */
static void
view_pending(Thread *t, const View *v, bool unwinding, Pys *to)
{
    int depth, count;
    const char *tags = tags_at(v, &depth);
    if (depth < 0) return;
    if (unwinding || op_at(v->info, v->offset) & OP_RERAISE) count = v->info->caught[v->offset / 2];
    else count = v->info->kept[v->offset / 2];
    stack_values(t, v, count, depth, tags, op_at(v->info, v->offset) & OP_LOOP_ENDS, to);
}

/* FrameView._operand_slots */
static int
operand_slots(const View *v, int *first)
{
    int depth;
    tags_at(v, &depth);
    int filled = filled_slots(v->i);
    if (depth < 0 || (filled >= 0 && filled - v->info->nnames < depth)) return 0;  /* the callee's frame has them */
    int size = v->info->operands[v->offset / 2];
    *first = depth - size;
    return size;
}

static bool
starting(const View *v)
{
    return op_at(v->info, v->offset) & OP_STARTING;
}

/* The object in a fast local, its cell opened; NULL if it is unbound (FrameView._fast). */
static inline PyObject *
fast_local(const View *v, int slot)
{
    PyObject *o = local_of(v->i, slot);
    if (!o) {
        if (slot < v->info->free_from || (v->offset >= 0 && !starting(v))) return NULL;
        PyObject *closure = PyFunction_GET_CLOSURE(frame_function(v->i));
        o = closure ? PyTuple_GET_ITEM(closure, slot - v->info->free_from) : NULL;
        if (!o) return NULL;
    }
    bool cell = PyBytes_AS_STRING(v->info->code->co_localspluskinds)[slot] & (CO_FAST_CELL | CO_FAST_FREE);
    if (cell && Py_IS_TYPE(o, &PyCell_Type)) o = PyCell_GET(o);  /* else it is a variable that holds one */
    return o;
}


static void
nows_add(Nows *l, PyObject *name, PyObject *value, int slot)
{
    if (l->n == l->cap) l->p = must(realloc(l->p, (l->cap = l->cap * 2 + 16) * sizeof(Now)));
    l->p[l->n++] = (Now){name, value, slot};
}

static int
by_name(const void *a, const void *b)
{
    return PyUnicode_Compare(((const Now *)a)->name, ((const Now *)b)->name);
}

static int
slot_of(const Info *info, PyObject *name)
{
    for (int i = 0; i < info->nnames; i++) if (info->names[i] == name) return i;
    for (int i = 0; i < info->nnames; i++) if (same_name(info->names[i], name)) return i;
    return -1;
}

static void
put_name(Nows *l, const Info *home, PyObject *name, PyObject *value)
{
    for (size_t i = 0; i < l->n; i++)
        if (same_name(l->p[i].name, name)) { l->p[i].value = value; return; }
    nows_add(l, name, value, slot_of(home, name));
}

static bool
in_namespace(PyObject *name, PyObject *implicit)
{
    return PyUnicode_CheckExact(name) && PySet_Contains(implicit, name) != 1
        && !(PyUnicode_GET_LENGTH(name) && PyUnicode_READ_CHAR(name, 0) == '.');
}

static PyObject *IMPLICIT;
static Map LOOKED_FOR;       /* types of the operands of calls into C that are looked at */

/* Variables of a frame and of the comprehensions running in it: parameters, then by name (_merged). */
static void
collect_locals(Thread *t, View *views, int nviews, Nows *l)
{
    View *v = &views[0];
    const Info *info = v->info;
    l->n = 0;
    bool in_order = nviews == 1;
    for (int k = 0; k < info->nnames; k++) {
        int slot = info->order[k];
        if (info->hidden[slot]) continue;
        PyObject *o = fast_local(v, slot);
        if (o) nows_add(l, info->names[slot], o, slot);
    }
    if (!info->optimized && !info->is_module) {
        PyObject *names = v->i->f_locals, *key, *value;
        if (names && PyDict_Check(names)) {
            Py_ssize_t at = 0;
            while (PyDict_Next(names, &at, &key, &value))
                if (in_namespace(key, IMPLICIT)) put_name(l, info, key, value);
            in_order = false;
        }
    }
    for (int k = 1; k < nviews; k++) {
        const Info *inner = views[k].info;
        PyObject *varnames = PyCode_GetVarnames(inner->code);
        for (Py_ssize_t i = 0; varnames && i < PyTuple_GET_SIZE(varnames); i++)
            for (size_t j = 0; j < l->n; j++)
                if (same_name(l->p[j].name, PyTuple_GET_ITEM(varnames, i))) {
                    memmove(&l->p[j], &l->p[j + 1], (l->n - j - 1) * sizeof(Now));
                    l->n--;
                    break;
                }
        Py_XDECREF(varnames);
        for (int i = 0; i < inner->nnames; i++) {
            int slot = inner->order[i];
            PyObject *o = inner->hidden[slot] ? NULL : fast_local(&views[k], slot);
            if (o) put_name(l, info, inner->names[slot], o);
        }
    }
    if (!in_order) {
        size_t at = 0;
        for (int p = 0; p < info->nparams; p++)
            for (size_t j = at; j < l->n; j++)
                if (l->p[j].slot == p) {
                    Now found = l->p[j];
                    memmove(&l->p[at + 1], &l->p[at], (j - at) * sizeof(Now));
                    l->p[at++] = found;
                    break;
                }
        if (l->n > at) qsort(l->p + at, l->n - at, sizeof(Now), by_name);
    }
    for (size_t i = 0; i < l->n; i++) keep(t, l->p[i].value);
}

static Val *
cell_of(Rec *r, const Now *now)
{
    if (now->slot >= 0) return &r->vals[now->slot];
    for (int i = 0; i < r->nextra; i++) if (same_name(r->extra[i].name, now->name)) return &r->extra[i].v;
    r->extra = must(realloc(r->extra, (size_t)(r->nextra + 1) * sizeof(Extra)));
    r->extra[r->nextra] = (Extra){Py_NewRef(now->name), {V_UNBOUND, 0}};
    return &r->extra[r->nextra++].v;
}

static void
write_name(Buf *b, PyObject *name)
{
    buf_byte(b, b->n ? ',' : '{');
    buf_json(b, name, PyUnicode_GET_LENGTH(name));
    buf_byte(b, ':');
}

static bool
among(const Nows *l, PyObject *name)
{
    for (size_t i = 0; i < l->n; i++) if (same_name(l->p[i].name, name)) return true;
    return false;
}

/* Whether an iterator that was on the stack lives on elsewhere: it was drawn from before it left. */
static bool
moved_unseen(Thread *t, Obj *obj, int steps)
{
    if (!obj->moves || obj->visited == t->stamp || obj->dead) return false;
    if (map_get(&t->objects, (uint64_t)obj->address) == obj) return true;
    for (size_t i = 0; i < obj->c.nrefs && steps < 8; i++) if (moved_unseen(t, obj->c.refs[i], steps + 1)) return true;
    return false;
}

static int
stack_changes(Thread *t, Rec *r, Pys *stack, Buf *stack_text)
{
    t->refs.n = 0;
    bool differs = (size_t)r->nstack != stack->n;
    if ((size_t)r->capstack < stack->n)
        r->stack = must(realloc(r->stack, (size_t)(r->capstack = (int)stack->n * 2) * sizeof(Val)));
    for (size_t i = 0; i < stack->n; i++) {
        Val v = {V_UNBOUND, 0};
        if (stack->p[i] && value_of(t, stack->p[i], &v) < 0) return -1;
        if (i >= (size_t)r->nstack || !same(v, r->stack[i])) differs = true;
        r->stack[i] = v;
    }
    r->nstack = (int)stack->n;
    if (t->iterators.n && t->quiet != t->stamp)
        for (size_t i = 0; i < r->srefs.n && !t->doubt; i++) t->doubt = moved_unseen(t, r->srefs.p[i], 0);
    set_stack_refs(t, &r->srefs, r->counted, t->refs.p, t->refs.n);
    if (differs) {
        buf_byte(stack_text, '[');
        for (size_t i = 0; i < stack->n; i++) {
            if (i) buf_byte(stack_text, ',');
            if (!stack->p[i]) buf_lit(stack_text, "{\"unbound\":true}");
            else if (write_value(t, stack_text, stack->p[i]) < 0) return -1;
        }
        buf_byte(stack_text, ']');
    }
    return 0;
}

/* Whether the variables refer to what they referred to, and none of that may have changed: all that was assigned is atoms. */
static bool
refers_as_before(Thread *t, const Rec *r, const View *v, uint64_t stored)
{
    if (t->touched.n || r->moves || v->info->nnames > 64 || (stored & ~((2ull << (v->info->nnames - 1)) - 1))) return false;
    for (; stored; stored &= stored - 1) {
        int slot = __builtin_ctzll(stored);
        PyObject *o = local_of(v->i, slot);
        if ((r->vals[slot].a & 0xFF) > V_STR) return false;
        if (o && !Py_IS_TYPE(o, &PyLong_Type) && !Py_IS_TYPE(o, &PyUnicode_Type) && !Py_IS_TYPE(o, &PyFloat_Type)
            && !Py_IS_TYPE(o, &PyBool_Type) && o != Py_None) return false;
    }
    return true;
}

/* As `frame_changes` for the variables of one frame of a function: no names are looked up. */
static int
fast_changes(Thread *t, Rec *r, View *v, Buf *changed)
{
    const Info *info = v->info;
    bool lost = false;
    uint64_t stored = !r->merged && r->seen >= t->quiet && t->at.frame == v->i ? t->at.stored | info->cells : ~0ull;
    r->merged = false;
    t->refs.n = 0;
    r->seen = t->stamp;
    bool same_refs = info->nnames && refers_as_before(t, r, v, stored);
    for (int k = 0; k < info->nnames; k++) {
        int slot = info->order[k];
        if (info->hidden[slot]) continue;
        if (slot < 64 && !(stored >> slot & 1) && (same_refs || (r->vals[slot].a & 0xFF) <= V_STR)) continue;  /* nobody has assigned it */
        PyObject *o = fast_local(v, slot);
        Val now = {V_UNBOUND, 0}, *cell = &r->vals[slot];
        if (!o) { lost |= cell->a != V_UNBOUND; continue; }
        if (value_of(t, o, &now) < 0) return -1;
        if (same(now, *cell)) continue;
        size_t nrefs = t->refs.n;
        write_name(changed, info->names[slot]);
        if (write_changed(t, changed, o, *cell, now) < 0) return -1;
        t->refs.n = nrefs;
        *cell = now;
    }
    for (int k = 0; lost && k < info->nnames; k++) {
        int slot = info->order[k];
        if (info->hidden[slot] || r->vals[slot].a == V_UNBOUND || fast_local(v, slot)) continue;
        r->vals[slot] = (Val){V_UNBOUND, 0};
        write_name(changed, info->names[slot]);
        buf_lit(changed, "{\"unbound\":true}");
    }
    if (same_refs && !t->refs.n) return 0;
    r->moves = false;
    for (size_t i = 0; i < t->refs.n; i++) r->moves |= t->refs.p[i]->moves;
    set_refs(t, &r->refs, r->counted, t->refs.p, t->refs.n);
    return 0;
}

/* Encode a frame's variables and stack; write what differs from its last event (_frame_changes). */
static int
frame_changes(Thread *t, Rec *r, View *views, int nviews, Pys *stack, Buf *changed, Buf *stack_text)
{
    static Nows l;     /* the GIL is held, and what runs in between comes back to another thread's call */
    int failed = 0;
    changed->n = stack_text->n = 0;
    if (nviews == 1 && !r->nextra && views[0].info == r->info && (r->info->optimized || r->info->is_module)) {
        failed = fast_changes(t, r, &views[0], changed);
        if (changed->n) buf_byte(changed, '}');
        return failed ? failed : stack ? stack_changes(t, r, stack, stack_text) : 0;
    }
    r->merged = true;
    Nows mine = l;
    l = (Nows){0};
    t->refs.n = 0;
    collect_locals(t, views, nviews, &mine);
    size_t bound = 0;
    for (size_t i = 0; i < mine.n && !failed; i++) {
        Val v = {0}, *cell = cell_of(r, &mine.p[i]);
        failed = value_of(t, mine.p[i].value, &v);
        if (failed || same(v, *cell)) continue;
        size_t nrefs = t->refs.n;
        write_name(changed, mine.p[i].name);
        failed = write_changed(t, changed, mine.p[i].value, *cell, v);
        t->refs.n = nrefs;
        cell = cell_of(r, &mine.p[i]);
        *cell = v;
    }
    for (int i = 0; i < r->info->nnames; i++) bound += r->vals[i].a != V_UNBOUND;
    for (int i = 0; i < r->nextra; i++) bound += r->extra[i].v.a != V_UNBOUND;
    if (bound != mine.n && !failed) {
        Nows lost = {0};
        for (int k = 0; k < r->info->nnames; k++) {
            int slot = r->info->order[k];
            if (r->vals[slot].a != V_UNBOUND && !among(&mine, r->info->names[slot])) {
                nows_add(&lost, r->info->names[slot], NULL, slot);
                r->vals[slot] = (Val){V_UNBOUND, 0};
            }
        }
        for (int i = 0; i < r->nextra; i++)
            if (r->extra[i].v.a != V_UNBOUND && !among(&mine, r->extra[i].name)) {
                nows_add(&lost, r->extra[i].name, NULL, -1);
                r->extra[i].v = (Val){V_UNBOUND, 0};
            }
        size_t params = 0;
        while (params < lost.n && lost.p[params].slot >= 0 && lost.p[params].slot < r->info->nparams) params++;
        if (lost.n > params) qsort(lost.p + params, lost.n - params, sizeof(Now), by_name);
        for (size_t i = 0; i < lost.n; i++) {
            write_name(changed, lost.p[i].name);
            buf_lit(changed, "{\"unbound\":true}");
        }
        free(lost.p);
    }
    if (changed->n) buf_byte(changed, '}');
    if (!failed) set_refs(t, &r->refs, r->counted, t->refs.p, t->refs.n);
    free(l.p);
    l = mine;
    return failed ? failed : stack ? stack_changes(t, r, stack, stack_text) : 0;
}

/* ---- globals */

static PyObject *HIDDEN_GLOBALS;

static int
global_changes(Thread *t, Rec *r, PyFrameObject *f)
{
    PyObject *dict = f->f_frame->f_globals;
    Buf *b = &t->global_text;
    b->n = 0;
    Globals *g = NULL;
    for (int i = 0; i < t->nglobals && !g; i++)
        if (t->globals[i].file == r->info->file || PyUnicode_Compare(t->globals[i].file, r->info->file) == 0) g = &t->globals[i];
    if (!g) {
        t->globals = must(realloc(t->globals, (size_t)(t->nglobals + 1) * sizeof(Globals)));
        g = &t->globals[t->nglobals++];
        memset(g, 0, sizeof *g);
        g->file = Py_NewRef(r->info->file);
    }
    if (!PyDict_Check(dict)) return 0;
    uint64_t version = dict_version(dict);
    if (g->dict == dict && g->version == version && !t->reread && g->seen >= t->replaced_at) {
        if (g->seen >= t->quiet) return 0;
        g->seen = t->stamp;
        size_t replaced = t->nreplaced;
        for (size_t i = 0; i < g->revisit.n; i++) keep(t, g->revisit.p[i]);
        for (size_t i = 0; i < g->revisit.n; i++) {
            Val v;
            if (value_of(t, g->revisit.p[i], &v) < 0) return -1;
        }
        if (t->nreplaced == replaced) return 0;  /* else a __class__ was assigned */
    }
    Nows l = {0};
    PyObject *key, *value;
    Py_ssize_t at = 0;
    while (PyDict_Next(dict, &at, &key, &value)) {
        if (!PyUnicode_CheckExact(key) || Py_IS_TYPE(value, &PyModule_Type) || PySet_Contains(HIDDEN_GLOBALS, key) == 1
            || PySet_Contains(t->core->hidden, key) == 1) continue;
        hold(t, value);
        hold(t, key);
        nows_add(&l, key, value, -1);
    }
    Extra *old = g->names;
    int nold = g->n, failed = 0;
    Extra *now = must(malloc((l.n + 1) * sizeof(Extra)));
    t->refs.n = 0;
    g->revisit.n = 0;
    t->revisit = &g->revisit;
    for (size_t i = 0; i < l.n && !failed; i++) {
        now[i].name = l.p[i].name;
        failed = value_of(t, l.p[i].value, &now[i].v);
    }
    t->revisit = NULL;
    size_t nrefs = t->refs.n;
    for (size_t i = 0; i < l.n && !failed; i++) {
        Val *known = NULL;
        if ((int)i < nold && old[i].name == now[i].name) known = &old[i].v;
        for (int k = 0; k < nold && !known; k++) if (same_name(old[k].name, now[i].name)) known = &old[k].v;
        if (known && same(*known, now[i].v)) continue;
        write_name(b, now[i].name);
        failed = write_changed(t, b, l.p[i].value, known ? *known : (Val){V_UNBOUND, 0}, now[i].v);
    }
    t->refs.n = nrefs;
    for (int k = 0; k < nold && !failed; k++) {
        bool there = k < (int)l.n && now[k].name == old[k].name;
        for (size_t i = 0; i < l.n && !there; i++) there = same_name(now[i].name, old[k].name);
        if (there) continue;
        write_name(b, old[k].name);
        buf_lit(b, "{\"unbound\":true}");
    }
    if (b->n) buf_byte(b, '}');
    if (failed) { free(now); free(l.p); return -1; }
    for (size_t i = 0; i < l.n; i++) Py_INCREF(now[i].name);
    for (int k = 0; k < nold; k++) Py_DECREF(old[k].name);
    free(old);
    g->names = now;
    g->n = (int)l.n;
    g->dict = dict;
    g->version = version;
    g->seen = t->stamp;
    free(l.p);
    set_refs(t, &g->refs, 1, t->refs.p, t->refs.n);
    return 0;
}

static inline Entry *
known_entry(Thread *t, void *frame)
{
    if (frame != t->cached_frame) { t->cached_frame = frame; t->cached = map_get(&t->frames, (uint64_t)frame); }
    return t->cached;
}

static inline Entry *
entry_of(Thread *t, void *frame)
{
    Entry *e = known_entry(t, frame);  /* a frame may end unseen, and another begin at its address */
    return e && e->code == frame_code(((PyFrameObject *)frame)->f_frame) ? e : NULL;
}

static PyObject *
frame_number_of(Thread *t, void *frame)
{
    Entry *e = entry_of(t, frame);
    return e && !e->comprehension ? PyLong_FromLong(e->rec->number) : NULL;
}
