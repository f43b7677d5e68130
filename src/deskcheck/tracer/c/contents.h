/* What objects consist of, by type: lists, dicts, instances, iterators, generators, functions. */

enum { ITEMS_NONE, ITEMS_LIST, ITEMS_VALUES, ITEMS_PAIRS, ITEMS_TEXTS };
typedef struct {
    const char *head, *tail;
    size_t nhead, ntail;
    int form;
    PyObject *list;              /* ITEMS_LIST: a list; ITEMS_TEXTS: a list of texts */
    PyObject **items;            /* ITEMS_VALUES, ITEMS_PAIRS */
    Py_ssize_t n;                /* how many are shown */
    PyObject **names, **fields;  /* fields: values, or texts */
    Py_ssize_t nfields;
    bool fields_are_texts;
} Shape;

static inline PyObject *
list_item(PyObject *list, Py_ssize_t i)
{
    return i < PyList_GET_SIZE(list) ? PyList_GET_ITEM(list, i) : Py_None;
}

static int
write_item(Thread *t, Buf *b, const Shape *s, Py_ssize_t i)
{
    if (s->form == ITEMS_TEXTS) { buf_text(b, PyList_GET_ITEM(s->list, i)); return 0; }
    if (s->form == ITEMS_LIST) return write_value(t, b, list_item(s->list, i));
    if (s->form == ITEMS_VALUES) return write_value(t, b, s->items[i]);
    buf_byte(b, '[');
    if (write_value(t, b, s->items[2 * i]) < 0) return -1;
    buf_byte(b, ',');
    if (write_value(t, b, s->items[2 * i + 1]) < 0) return -1;
    buf_byte(b, ']');
    return 0;
}

static int
write_items_from(Thread *t, Buf *b, const Shape *s, Py_ssize_t from, Py_ssize_t to)
{
    for (Py_ssize_t i = from; i < to; i++) {
        if (i > from) buf_byte(b, ',');
        if (write_item(t, b, s, i) < 0) return -1;
    }
    return 0;
}

/* A field and its value; `old` is the one that a reader knows, unbound for none. */
static int
write_field(Thread *t, Buf *b, const Shape *s, Py_ssize_t i, Val old, Val now)
{
    buf_json(b, s->names[i], PyUnicode_GET_LENGTH(s->names[i]));
    buf_byte(b, ':');
    if (s->fields_are_texts) { buf_text(b, s->fields[i]); return 0; }
    return write_changed(t, b, s->fields[i], old, now);
}

static inline Val
text_of_object(PyObject *text)
{
    /* one form in memory for one text: ASCII or UTF-8 */
    Py_ssize_t n = PyUnicode_GET_LENGTH(text);
    uint64_t h = hash_bytes(PyUnicode_DATA(text), (size_t)(n * PyUnicode_KIND(text)));
    return (Val){V_TEXT | (uint64_t)n << 8, h};
}

static Field *
find_field(Content *c, PyObject *name, size_t guess)
{
    if (guess < c->nf && same_name(c->fields[guess].name, name)) return &c->fields[guess];
    for (size_t i = 0; i < c->nf; i++) if (same_name(c->fields[i].name, name)) return &c->fields[i];
    return NULL;
}

/* Whether the fields that stay come first, in the order that they had: a reader puts new ones behind them. */
static bool
in_old_order(const Content *c, const Shape *s)
{
    Py_ssize_t at = 0;
    for (size_t k = 0; k < c->nf; k++) {
        Py_ssize_t i = 0;
        while (i < s->nfields && !same_name(s->names[i], c->fields[k].name)) i++;
        if (i == s->nfields) continue;
        if (i != at) return false;
        at++;
    }
    return true;
}

/* The tail of a shape: JSON members `length` and `cut`, each with a comma before it, if they are there. */
static Tail
tail_of(const Shape *s)
{
    Tail tail = {.length = -1};
    const char *p = s->tail, *end = p + s->ntail;
    static const char LENGTH[] = ",\"length\":", CUT[] = ",\"cut\":\"";
    if (end - p > (ptrdiff_t)sizeof LENGTH && memcmp(p, LENGTH, sizeof LENGTH - 1) == 0)
        for (p += sizeof LENGTH - 1, tail.length = 0; p < end && *p >= '0' && *p <= '9'; p++) tail.length = 10 * tail.length + (*p - '0');
    if (end - p > (ptrdiff_t)sizeof CUT && memcmp(p, CUT, sizeof CUT - 1) == 0) {
        p += sizeof CUT - 1;
        size_t n = (size_t)(end - 1 - p);
        memcpy(tail.cut, p, n < sizeof tail.cut ? n : sizeof tail.cut - 1);
    }
    return tail;
}

/* What turns one tail into another: members that differ, null for one that is gone. */
static void
write_tail(Buf *b, const Tail *old, const Tail *now, bool follows)
{
    if (old->length != now->length) {
        if (follows) buf_byte(b, ',');
        follows = true;
        buf_lit(b, "\"length\":");
        if (now->length < 0) buf_lit(b, "null");
        else buf_int(b, now->length);
    }
    if (strcmp(old->cut, now->cut)) {
        if (follows) buf_byte(b, ',');
        buf_lit(b, "\"cut\":");
        if (!now->cut[0]) buf_lit(b, "null");
        else { buf_byte(b, '"'); buf_put(b, now->cut, strlen(now->cut)); buf_byte(b, '"'); }
    }
}

/* Take in what an object consists of now; write what changed (Content.whole, Content.change_to). */
static int
apply(Thread *t, const Shape *s)
{
    size_t wide = s->form == ITEMS_PAIRS ? 2 : 1, nvals = (size_t)s->n * wide;
    size_t need = nvals + (size_t)s->nfields;
    if (need > t->capvals) t->vals = must(realloc(t->vals, (t->capvals = need * 2) * sizeof(Val)));
    Val *items = t->vals, *fields = t->vals + nvals;
    t->refs.n = 0;
    for (size_t i = 0; i < nvals; i++) {
        PyObject *o;
        if (s->form == ITEMS_TEXTS) { items[i] = text_of_object(PyList_GET_ITEM(s->list, (Py_ssize_t)i)); continue; }
        o = s->form == ITEMS_LIST ? list_item(s->list, (Py_ssize_t)i) : s->items[i];
        if (value_of(t, o, &items[i]) < 0) return -1;
    }
    for (Py_ssize_t i = 0; i < s->nfields; i++) {
        if (s->fields_are_texts) fields[i] = text_of_object(s->fields[i]);
        else if (value_of(t, s->fields[i], &fields[i]) < 0) return -1;
    }
    return 0;
}

static int
commit(Thread *t, Obj *obj, const Shape *s)
{
    Content *c = &obj->c;
    size_t wide = s->form == ITEMS_PAIRS ? 2 : 1, nvals = (size_t)s->n * wide;
    Val *items = t->vals, *fields = t->vals + nvals;
    Val head = text_val(s->head, s->nhead);
    Tail tail = tail_of(s);
    bool has_items = s->form != ITEMS_NONE;
    bool whole = !obj->known || !same(head, c->head) || has_items != c->has_items, tail_differs = whole || !same_tail(&tail, &c->tail);
    bool items_differ = has_items && (whole || c->n != nvals || (nvals && memcmp(c->items, items, nvals * sizeof(Val)) != 0));
    bool fields_differ = whole || c->nf != (size_t)s->nfields;
    for (Py_ssize_t i = 0; i < s->nfields && !fields_differ; i++) {
        Field *f = find_field(c, s->names[i], (size_t)i);
        fields_differ = !f || !same(f->v, fields[i]);
    }
    if (!items_differ && !fields_differ && !tail_differs) return 0;
    if (!whole && fields_differ && !in_old_order(c, s)) whole = true;
    Buf *b = &t->objects_text;
    buf_lit(b, ",\"");
    buf_int(b, (int64_t)obj->number);
    buf_lit(b, "\":{");
    size_t nrefs = t->refs.n;      /* writing notes the references again */
    t->revisit = NULL;
    if (whole) {
        buf_put(b, s->head, s->nhead);
        if (has_items) {
            buf_lit(b, ",\"items\":[");
            if (write_items_from(t, b, s, 0, s->n) < 0) return -1;
            buf_byte(b, ']');
        }
        if (s->nfields) {
            buf_lit(b, ",\"fields\":{");
            for (Py_ssize_t i = 0; i < s->nfields; i++) {
                if (i) buf_byte(b, ',');
                if (write_field(t, b, s, i, (Val){V_UNBOUND, 0}, fields[i]) < 0) return -1;
            }
            buf_byte(b, '}');
        }
        buf_put(b, s->tail, s->ntail);
    } else {
        if (items_differ) {
            size_t old = c->n / wide, now = (size_t)s->n, shorter = old < now ? old : now, same_head = 0, same_tail = 0;
            while (same_head < shorter && !memcmp(c->items + same_head * wide, items + same_head * wide, wide * sizeof(Val)))
                same_head++;
            while (same_tail < shorter - same_head
                   && !memcmp(c->items + (old - 1 - same_tail) * wide, items + (now - 1 - same_tail) * wide, wide * sizeof(Val)))
                same_tail++;
            buf_lit(b, "\"splice\":[");
            buf_int(b, (int64_t)same_head);
            buf_byte(b, ',');
            buf_int(b, (int64_t)(old - same_head - same_tail));
            buf_lit(b, ",[");
            if (write_items_from(t, b, s, (Py_ssize_t)same_head, (Py_ssize_t)(now - same_tail)) < 0) return -1;
            buf_lit(b, "]]");
        }
        if (fields_differ) {
            if (items_differ) buf_byte(b, ',');
            buf_lit(b, "\"fields\":{");
            bool first = true;
            for (Py_ssize_t i = 0; i < s->nfields; i++) {
                Field *f = find_field(c, s->names[i], (size_t)i);
                if (f && same(f->v, fields[i])) continue;
                if (!first) buf_byte(b, ',');
                first = false;
                if (write_field(t, b, s, i, f ? f->v : (Val){V_UNBOUND, 0}, fields[i]) < 0) return -1;
            }
            for (size_t k = 0; k < c->nf; k++) {
                bool there = k < (size_t)s->nfields && same_name(s->names[k], c->fields[k].name);
                for (Py_ssize_t i = 0; i < s->nfields && !there; i++) there = same_name(s->names[i], c->fields[k].name);
                if (there) continue;
                if (!first) buf_byte(b, ',');
                first = false;
                buf_json(b, c->fields[k].name, PyUnicode_GET_LENGTH(c->fields[k].name));
                buf_lit(b, ":{\"unbound\":true}");
            }
            buf_byte(b, '}');
        }
        if (tail_differs) write_tail(b, &c->tail, &tail, items_differ || fields_differ);
    }
    buf_byte(b, '}');
    t->refs.n = nrefs;
    c->head = head;
    c->tail = tail;
    c->has_items = has_items;
    if (items_differ || c->n != nvals) {
        if (nvals > c->cap) c->items = must(realloc(c->items, (c->cap = nvals + nvals / 4 + 4) * sizeof(Val)));
        if (nvals) memcpy(c->items, items, nvals * sizeof(Val));
        c->n = nvals;
        c->nseen = 0;  /* what was seen last was another content */
    }
    if (fields_differ) {
        Field *now = s->nfields ? must(malloc((size_t)s->nfields * sizeof(Field))) : NULL;
        for (Py_ssize_t i = 0; i < s->nfields; i++) now[i] = (Field){Py_NewRef(s->names[i]), fields[i]};
        for (size_t i = 0; i < c->nf; i++) Py_DECREF(c->fields[i].name);
        free(c->fields);
        c->fields = now;
        c->nf = (size_t)s->nfields;
    }
    edges_set(t, obj, t->refs.p, t->refs.n);
    return 0;
}

static int
settle(Thread *t, Obj *obj, const Shape *s)
{
    if (apply(t, s) < 0 || commit(t, obj, s) < 0) return -1;
    obj->known = true;
    return 0;
}

#define HEAD(s, text) ((s)->head = text, (s)->nhead = sizeof(text) - 1)

static void
long_tail(Shape *s, char *room, Py_ssize_t all)
{
    s->ntail = (size_t)sprintf(room, ",\"length\":%zd,\"cut\":\"long\"", all);
    s->tail = room;
}

enum { CHUNK = 64 };

/* The Val of an atom; false for anything else. */
static inline bool
atom_of(Thread *t, PyObject *o, Val *v)
{
    PyTypeObject *k = Py_TYPE(o);
    int64_t value;
    if (k == &PyLong_Type) { if (!int_value(o, &value)) return false; *v = (Val){V_INT, (uint64_t)value}; return true; }
    if (k == &PyUnicode_Type) { *v = str_val(t, o); return true; }
    if (o == Py_None) { *v = (Val){V_NONE, 0}; return true; }
    if (k == &PyBool_Type) { *v = (Val){o == Py_True ? V_TRUE : V_FALSE, 0}; return true; }
    if (k == &PyFloat_Type) {
        double x = PyFloat_AS_DOUBLE(o);
        uint64_t bits = 1;
        if (x == x) memcpy(&bits, &x, 8);
        *v = (Val){V_FLOAT | (uint64_t)(x != x) << 8, bits};
        return true;
    }
    return false;
}

/* Whether an address means a value for as long as the interpreter lives. */
static inline bool
lasts(PyObject *o)
{
    int64_t value;
    if (o == Py_None || o == Py_True || o == Py_False) return true;
    if (Py_IS_TYPE(o, &PyLong_Type) && int_value(o, &value)) return value >= -5 && value <= 256;
    return false;
}

/* The change of a list: `removed` items at `from` are replaced by those up to `to`; and its tail, which is taken in. */
static int
write_splice(Thread *t, Obj *obj, const Shape *s, size_t from, size_t removed, size_t to)
{
    Buf *b = &t->objects_text;
    Tail tail = tail_of(s);
    bool splice = removed || to > from;
    buf_lit(b, ",\"");
    buf_int(b, (int64_t)obj->number);
    buf_lit(b, "\":{");
    if (splice) {
        buf_lit(b, "\"splice\":[");
        buf_int(b, (int64_t)from);
        buf_byte(b, ',');
        buf_int(b, (int64_t)removed);
        buf_lit(b, ",[");
        if (write_items_from(t, b, s, (Py_ssize_t)from, (Py_ssize_t)to) < 0) return -1;
        buf_lit(b, "]]");
    }
    write_tail(b, &obj->c.tail, &tail, splice);
    buf_byte(b, '}');
    obj->c.tail = tail;
    return 0;
}

/* A list of atoms that is known: compare in place. 1: done; 0: look at it as at any other. */
static int
atoms_content(Thread *t, Obj *obj, const Shape *s)
{
    Content *c = &obj->c;
    size_t n = (size_t)s->n, old = c->n;
    if (!obj->known || c->nrefs || n < old || old == 0) return 0;
    PyObject **items = ((PyListObject *)s->list)->ob_item;
    if (c->nseen > old) c->nseen = 0;
    if (n > c->capseen) {
        c->capseen = n + n / 2 + CHUNK;
        c->seen = must(realloc(c->seen, c->capseen * sizeof(PyObject *)));
        c->stable = must(realloc(c->stable, (c->capseen / CHUNK + 1) * sizeof(bool)));
    }
    size_t first = SIZE_MAX, last = 0;
    for (size_t from = 0; from < n; from += CHUNK) {
        size_t to = from + CHUNK < n ? from + CHUNK : n;
        bool whole = to <= c->nseen;
        if (whole && c->stable[from / CHUNK] && memcmp(c->seen + from, items + from, (to - from) * sizeof(PyObject *)) == 0)
            continue;
        bool stable = true;
        for (size_t i = from; i < to; i++) {
            PyObject *o = items[i];
            Val v;
            if (!atom_of(t, o, &v)) { c->nseen = 0; return 0; }
            stable &= lasts(o);
            if (i >= old || !same(v, c->items[i])) {
                if (first == SIZE_MAX) first = i;
                last = i + 1;
            }
        }
        memcpy(c->seen + from, items + from, (to - from) * sizeof(PyObject *));
        c->stable[from / CHUNK] = stable;
    }
    c->nseen = n;
    if (n > old) {
        if (first > old) first = old;
        last = n;
    }
    Tail now = tail_of(s);
    if (first == SIZE_MAX) return same_tail(&now, &c->tail) || write_splice(t, obj, s, 0, 0, 0) == 0 ? 1 : -1;
    /* The longest common head, then the longest common tail; of a list that has grown that is more work. */
    size_t removed;
    if (n == old) removed = last - first;
    else {
        size_t tail = 0;
        Val v;
        while (tail < old - (first < old ? first : old) && atom_of(t, items[n - 1 - tail], &v) && same(v, c->items[old - 1 - tail])) tail++;
        last = n - tail;
        removed = old - tail - first;
    }
    if (write_splice(t, obj, s, first, removed, last) < 0) return -1;
    if (n > c->cap) c->items = must(realloc(c->items, (c->cap = n + n / 2 + 4) * sizeof(Val)));
    for (size_t i = first; i < (n == old ? last : n); i++) if (!atom_of(t, items[i], &c->items[i])) return -1;
    c->n = n;
    return 1;
}

/* A known list of which one item was set, or to which items were added. 1: done; 0: look at it as at any other. */
static int
one_item(Thread *t, Obj *obj, const Shape *s)
{
    Content *c = &obj->c;
    size_t n = (size_t)s->n, old = c->n, from = obj->only == AT_END ? old : (size_t)obj->only, to = obj->only == AT_END ? n : from + 1;
    Tail tail = tail_of(s);
    bool longer = !same_tail(&tail, &c->tail);
    if (obj->only == AT_END ? n < old : longer || n != old) return 0;
    if (obj->only != AT_END && from >= n) return 1;  /* it is not among those that are shown */
    PyObject **items = ((PyListObject *)s->list)->ob_item;
    t->refs.n = 0;
    if (n > c->cap) c->items = must(realloc(c->items, (c->cap = n + n / 2 + 4) * sizeof(Val)));
    if (obj->only != AT_END) {
        Val v;
        if (value_of(t, items[from], &v) < 0) return -1;
        if (same(v, c->items[from])) return 1;
        if (c->nrefs || t->refs.n) return 0;
        c->items[from] = v;
        if (from < c->nseen) {
            c->seen[from] = items[from];
            c->stable[from / CHUNK] &= lasts(items[from]);
        }
    } else {
        if (from == to && !longer) return 1;
        for (size_t i = from; i < to; i++) if (value_of(t, items[i], &c->items[i]) < 0) return -1;
        c->n = n;
        edges_add(obj, t->refs.p, t->refs.n);
    }
    return write_splice(t, obj, s, from, from < old ? 1 : 0, to) < 0 ? -1 : 1;
}

/* A generator or coroutine: where it stands, and the state of its frame (Snapshotter._generator). */
static PyObject *N_line, *N_frame, *N_stack, *N_state, *V_finished, *V_running, *V_suspended, *V_created;

#define CUT_OPAQUE ",\"cut\":\"opaque\""

static int
generator_content(Thread *t, Obj *obj, PyObject *o)
{
    bool hidden = false;
    PyGenObject *gen = (PyGenObject *)o;
    PyObject *state;
    Pys names = {0}, values = {0}, stack = {0};
    Nows locals = {0};
    IFrame *frame = (IFrame *)&gen->gi_iframe;
    int failed = 0;
    View v;
    if (gen->gi_frame_state < FRAME_EXECUTING && view_of_iframe(t, frame, &v) < 0) return -1;
    /* only now: another thread may have run it while Python was asked about its code */
    if (gen->gi_frame_state >= FRAME_COMPLETED) state = V_finished;
    else if (gen->gi_frame_state == FRAME_EXECUTING) state = V_running;
    else {
        bool started = gen->gi_frame_state != FRAME_CREATED;
        state = started ? V_suspended : V_created;
        if (view_of_iframe(t, frame, &v) < 0) return -1;
        hidden = !v.info->in_scope;
        if (v.info->in_scope) {
            int line = started ? PyCode_Addr2Line(v.info->code, frame_lasti(frame)) : v.info->code->co_firstlineno;
            PyObject *text = line < 0 ? Py_NewRef(Py_None) : PyLong_FromLong(line);
            hold(t, text);
            Py_DECREF(text);
            pys_add(&names, N_line);
            pys_add(&values, text);
            PyObject *number = started && frame->frame_obj ? frame_number_of(t, frame->frame_obj) : NULL;
            if (number) {
                hold(t, number);
                Py_DECREF(number);
                pys_add(&names, N_frame);
                pys_add(&values, number);
            }
            collect_locals(t, &v, 1, &locals);
            for (size_t i = 0; i < locals.n; i++) { pys_add(&names, locals.p[i].name); pys_add(&values, locals.p[i].value); }
            if (started) {
                view_stack(t, &v, false, &stack);
                PyObject *tuple = PyTuple_New((Py_ssize_t)stack.n);
                for (size_t i = 0; tuple && i < stack.n; i++) PyTuple_SET_ITEM(tuple, (Py_ssize_t)i, Py_NewRef(stack.p[i]));
                if (!tuple) failed = -1;
                else { pys_add(&t->held, tuple); pys_add(&names, N_stack); pys_add(&values, tuple); }
            }
        }
    }
    pys_add(&names, N_state);
    pys_add(&values, state);
    Buf head = {0};
    if (PyGen_CheckExact(o)) buf_lit(&head, "\"kind\":\"generator\",\"type\":\"generator\",\"text\":\"generator ");
    else buf_lit(&head, "\"kind\":\"generator\",\"type\":\"coroutine\",\"text\":\"coroutine ");
    Buf name = {0};
    buf_json(&name, gen->gi_qualname, PyUnicode_GET_LENGTH(gen->gi_qualname));
    buf_put(&head, name.p + 1, name.n - 1);
    buf_free(&name);
    Shape s = {.head = head.p, .nhead = head.n, .tail = "", .names = names.p, .fields = values.p, .nfields = (Py_ssize_t)names.n};
    if (hidden) { s.tail = CUT_OPAQUE; s.ntail = sizeof CUT_OPAQUE - 1; }
    if (!failed) failed = settle(t, obj, &s);
    buf_free(&head);
    free(names.p);
    free(values.p);
    free(stack.p);
    free(locals.p);
    return failed;
}

/* Whether a known instance holds what it held, in the same order: 1 if so, 0 if that is to be looked at closely. */
static int
instance_unchanged(Thread *t, Obj *obj, PyObject *o, TypeInfo *info)
{
    Content *c = &obj->c;
    size_t at = 0;
    Val v;
    for (int i = 0; i < info->nslots; i++) {
        PyObject *value = *(PyObject **)((char *)o + info->offsets[i]);
        if (!value) continue;
        if (at == c->nf || c->fields[at].name != info->names[i]) return 0;
        if (value_of(t, value, &v) < 0) return -1;
        if (!same(v, c->fields[at++].v)) return 0;
    }
    if (info->has_dict) {
        Attributes own;
        PyObject *key, *value;
        attributes_of(o, &own);
        if (own.dict && !PyDict_CheckExact(own.dict)) return 0;
        while (next_attribute(&own, &key, &value)) {
            if (at == c->nf || c->fields[at].name != key) return 0;
            if (value_of(t, value, &v) < 0) return -1;
            if (!same(v, c->fields[at++].v)) return 0;
        }
    }
    return at == c->nf && same(c->head, info->head_val);
}

/* An instance: what its slots and its dict hold; of an exception, what it was made with too. */
static int
instance_content(Thread *t, Obj *obj, PyObject *o, TypeInfo *info)
{
    PyObject *args = info->mode == M_EXCEPTION ? ((PyBaseExceptionObject *)o)->args : NULL;
    if (obj->known && !info->hidden && t->alone && !args) {
        int unchanged = instance_unchanged(t, obj, o, info);
        if (unchanged) return unchanged < 0 ? -1 : 0;
    }
    Pys names = {0}, values = {0};
    for (int i = 0; i < info->nslots; i++) {
        PyObject *value = *(PyObject **)((char *)o + info->offsets[i]);
        if (!value) continue;
        bool twice = false;
        for (size_t k = 0; k < names.n && !twice; k++) twice = same_name(names.p[k], info->names[i]);
        if (!twice) { pys_add(&names, info->names[i]); pys_add(&values, value); }
    }
    if (info->has_dict) {
        Attributes own;
        PyObject *key, *value;
        attributes_of(o, &own);
        if (own.dict && !PyDict_CheckExact(own.dict)) own.dict = NULL;
        while (next_attribute(&own, &key, &value)) {
            if (!PyUnicode_CheckExact(key)) continue;
            size_t k = 0;
            while (info->nslots && k < names.n && !same_name(names.p[k], key)) k++;
            if (info->nslots && k < names.n) values.p[k] = value;
            else { pys_add(&names, key); pys_add(&values, value); }
        }
    }
    size_t kept = 0;
    bool left_out = false;
    for (size_t i = 0; i < names.n; i++) {
        if (info->hidden && PySet_Contains(info->hidden, names.p[i]) == 1) {
            left_out |= PyUnicode_CompareWithASCIIString(names.p[i], "__orig_class__") != 0;
            continue;
        }
        names.p[kept] = names.p[i];
        values.p[kept++] = values.p[i];
    }
    for (size_t i = 0; i < kept; i++) { keep(t, names.p[i]); keep(t, values.p[i]); }
    Shape s = {.names = names.p, .fields = values.p, .nfields = (Py_ssize_t)kept, .tail = ""};
    if (s.nfields > t->core->items) s.nfields = t->core->items;
    Py_ssize_t n;
    keep(t, info->head);
    s.head = PyUnicode_AsUTF8AndSize(info->head, &n);
    s.nhead = (size_t)n;
    int failed = !s.head;
    char room[64];
    if (left_out && s.head && !strstr(s.head, CUT_OPAQUE)) { s.tail = CUT_OPAQUE; s.ntail = sizeof CUT_OPAQUE - 1; }
    if (args) {
        Val v;
        for (Py_ssize_t i = 0; i < s.nfields && !failed; i++) failed = value_of(t, s.fields[i], &v) < 0;  /* numbered first */
        hold(t, args);
        s.form = ITEMS_VALUES;
        s.items = &PyTuple_GET_ITEM(args, 0);
        s.n = PyTuple_GET_SIZE(args);
        if (s.n > t->core->items) { long_tail(&s, room, s.n); s.n = t->core->items; }
    }
    if (!failed) failed = settle(t, obj, &s) < 0;
    free(names.p);
    free(values.p);
    return failed ? -1 : 0;
}

static int
function_content(Thread *t, Obj *obj, PyObject *o)
{
    PyFunctionObject *f = (PyFunctionObject *)o;
    PyCodeObject *code = (PyCodeObject *)f->func_code;
    PyObject *free_names = f->func_closure ? PyCode_GetFreevars(code) : NULL;
    Pys names = {0}, values = {0};
    for (Py_ssize_t i = 0; f->func_closure && i < PyTuple_GET_SIZE(f->func_closure); i++) {
        PyObject *value = PyCell_GET(PyTuple_GET_ITEM(f->func_closure, i));
        if (!value) continue;
        hold(t, value);
        pys_add(&names, PyTuple_GET_ITEM(free_names, i));
        pys_add(&values, value);
    }
    Buf head = {0};
    buf_lit(&head, "\"kind\":\"function\",\"type\":\"function\",\"text\":");
    buf_lit(&head, "\"function ");
    Buf name = {0};
    buf_json(&name, f->func_qualname, PyUnicode_GET_LENGTH(f->func_qualname));
    buf_put(&head, name.p + 1, name.n - 1);
    Shape s = {.head = head.p, .nhead = head.n, .tail = "", .names = names.p, .fields = values.p,
               .nfields = (Py_ssize_t)names.n};
    if (s.nfields > t->core->items) s.nfields = t->core->items;
    int failed = settle(t, obj, &s);
    buf_free(&head);
    buf_free(&name);
    free(names.p);
    free(values.p);
    Py_XDECREF(free_names);
    return failed;
}

static int
fields_content(Thread *t, Obj *obj, const char *head, int n, PyObject **names, PyObject **values)
{
    Shape s = {.head = head, .nhead = strlen(head), .tail = "", .names = names, .fields = values, .nfields = n};
    int failed = 0;
    for (int i = 0; i < n; i++) failed |= !values[i];
    if (!failed) failed = settle(t, obj, &s) < 0;
    for (int i = 0; i < n; i++) Py_XDECREF(values[i]);
    return failed ? -1 : 0;
}

static PyObject *N_over, *N_next, *N_left, *N_iterators, *N_iterator, *N_count, *EMPTY;

#define ITERATOR(name) "\"kind\":\"iterator\",\"type\":\"" name "\""

static int
python_content(Thread *t, Obj *obj, PyObject *o)
{
    t->refs.n = 0;
    PyObject *found = QUIETLY(PyObject_CallMethodOneArg(t->fallback, S_content, o));
    if (!found) return -1;
    hold(t, found);
    Py_DECREF(found);
    PyObject *head = PyTuple_GET_ITEM(found, 0), *items = PyTuple_GET_ITEM(found, 1);
    PyObject *fields = PyTuple_GET_ITEM(found, 2), *tail = PyTuple_GET_ITEM(found, 3);
    Shape s = {.form = items == Py_None ? ITEMS_NONE : ITEMS_TEXTS, .list = items, .fields_are_texts = true};
    Py_ssize_t nhead, ntail;
    Buf room = {0};
    buf_text(&room, head);
    nhead = (Py_ssize_t)room.n;
    buf_text(&room, tail);
    ntail = (Py_ssize_t)room.n - nhead;
    s.head = room.p; s.nhead = (size_t)nhead;
    s.tail = room.p + nhead; s.ntail = (size_t)ntail;
    s.n = items == Py_None ? 0 : PyList_GET_SIZE(items);
    Pys names = {0}, texts = {0};
    PyObject *key, *value;
    Py_ssize_t at = 0;
    while (PyDict_Next(fields, &at, &key, &value)) { pys_add(&names, key); pys_add(&texts, value); }
    s.names = names.p; s.fields = texts.p; s.nfields = (Py_ssize_t)names.n;
    /* the references were noted when Python asked for the values' texts: `apply` finds none */
    Objs refs = t->refs;
    t->refs = (Objs){0};
    int failed = apply(t, &s);
    free(t->refs.p);
    t->refs = refs;
    if (!failed) failed = commit(t, obj, &s);
    obj->known = true;
    free(names.p);
    free(texts.p);
    buf_free(&room);
    return failed;
}

/* See again what a content refers to that has not changed. 0: done; 1: it has changed nevertheless. */
static int
revisit(Thread *t, Obj *obj)
{
    Pys now = obj->revisit;
    size_t nrefs = t->refs.n, replaced = t->nreplaced;
    for (size_t i = 0; i < now.n; i++) keep(t, now.p[i]);
    for (size_t i = 0; i < now.n; i++) {
        Val v;
        if (value_of(t, now.p[i], &v) < 0) return -1;
    }
    t->refs.n = nrefs;
    return t->nreplaced != replaced;  /* a __class__ was assigned */
}

/* The dict in which an object keeps its attributes, if it has been made. */
static PyObject *
own_dict(PyObject *o)
{
    if (PyFunction_Check(o)) return ((PyFunctionObject *)o)->func_dict;
#if PY_VERSION_HEX >= 0x030D0000
    if (Py_TYPE(o)->tp_flags & Py_TPFLAGS_MANAGED_DICT) return (PyObject *)_PyObject_ManagedDictPointer(o)->dict;
#endif
    Attributes a;
    attributes_of(o, &a);
    return a.values ? NULL : a.dict;
}

/* Whether its attributes can be changed behind its back: somebody else holds its dict, too. */
static bool
shares_dict(PyObject *o)
{
    PyObject *dict = own_dict(o);
    return dict && Py_REFCNT(dict) > 1;
}

/* From now on operators may change it unseen, or others show what it holds. */
static void
note_exotic(Thread *t, Obj *obj)
{
    if (obj->exotic) return;
    obj->exotic = true;
    t->exotics++;
}

enum { HASHED_BYTES = 1 << 16 };  /* of a larger array the shown items are compared through Python, as of a list */

static bool
hash_structure(PyObject *o, uint64_t *memory)
{
    *memory = hash_bytes((char *)o + sizeof(PyObject), (size_t)Py_TYPE(o)->tp_basicsize - sizeof(PyObject));
    return true;
}

/* The structure of an array and the memory that its buffer shows: false if that is large, in pieces, or refers to objects. */
static bool
hash_array(PyObject *o, uint64_t *memory)
{
    Py_buffer view;
    if (PyObject_GetBuffer(o, &view, PyBUF_FULL_RO) < 0) { PyErr_Clear(); return false; }
    bool plain = view.format && !strchr(view.format, 'O') && view.len <= HASHED_BYTES && PyBuffer_IsContiguous(&view, 'A');
    if (plain) {
        uint64_t parts[4] = {hash_bytes(view.buf, (size_t)view.len), hash_bytes(view.format, strlen(view.format)), 0, 0};
        if (view.shape) parts[2] = hash_bytes((char *)view.shape, (size_t)view.ndim * sizeof *view.shape);
        if (view.strides) parts[3] = hash_bytes((char *)view.strides, (size_t)view.ndim * sizeof *view.strides);
        *memory = hash_bytes((char *)parts, sizeof parts);
    }
    PyBuffer_Release(&view);
    uint64_t structure;
    if (plain && hash_structure(o, &structure)) *memory = mix(*memory, structure);
    return plain;
}

/* Look at an object: its content, what changed, what it refers to. */
static int
look_into(Thread *t, Queued q)
{
    PyObject *o = q.o;
    Obj *obj = q.obj;
    PyTypeObject *k = Py_TYPE(o);
    char room[64];
    t->depth = q.depth;
    if (k == &PyList_Type) {
        Shape s = {.form = ITEMS_LIST, .list = o, .n = PyList_GET_SIZE(o), .tail = ""};
        HEAD(&s, "\"kind\":\"list\",\"type\":\"list\"");
        if (s.n > t->core->items) { long_tail(&s, room, s.n); s.n = t->core->items; }
        int done = obj->only != EVERYWHERE && obj->known ? one_item(t, obj, &s) : 0;
        obj->only = EVERYWHERE;
        if (!done) done = atoms_content(t, obj, &s);
        if (done) return done < 0 ? -1 : 0;
        Tail tail = tail_of(&s);
        if (obj->known && obj->c.n == (size_t)s.n && same_tail(&obj->c.tail, &tail)) {
            Py_ssize_t i = 0;
            for (Val v; i < s.n; i++) {
                if (value_of(t, list_item(o, i), &v) < 0) return -1;
                if (!same(v, obj->c.items[i])) break;
            }
            if (i == s.n) return 0;
        }
        return settle(t, obj, &s);
    }
    if (k == &PyGen_Type || k == &PyCoro_Type) return generator_content(t, obj, o);
    if (k == &PyDict_Type) {
        uint64_t version = dict_version(o);
        int again = obj->known && version == obj->version && !t->reread && obj->read >= t->replaced_at ? revisit(t, obj) : 1;
        if (again <= 0) return again;
        Shape s = {.form = ITEMS_PAIRS, .n = PyDict_GET_SIZE(o), .tail = ""};
        HEAD(&s, "\"kind\":\"dict\",\"type\":\"dict\"");
        if (s.n > t->core->items) { long_tail(&s, room, s.n); s.n = t->core->items; }
        PyObject *key, *value;
        Py_ssize_t at = 0;
        Pys pairs = {0};
        while (pairs.n < 2 * (size_t)s.n && PyDict_Next(o, &at, &key, &value)) {
            keep(t, key);
            keep(t, value);
            pys_add(&pairs, key);
            pys_add(&pairs, value);
        }
        s.items = pairs.p;
        s.n = (Py_ssize_t)pairs.n / 2;
        obj->revisit.n = 0;
        t->revisit = &obj->revisit;
        /* the reference tracer numbers all keys before all values */
        int failed = 0;
        Val v;
        t->refs.n = 0;
        bool plain = true;
        for (size_t i = 0; i < pairs.n && plain; i += 2)
            plain = PyUnicode_CheckExact(pairs.p[i]) || PyLong_CheckExact(pairs.p[i]);
        for (size_t i = 0; i < pairs.n && !failed && !plain; i += 2) failed = value_of(t, pairs.p[i], &v);
        if (!failed) failed = settle(t, obj, &s);
        t->revisit = NULL;
        obj->version = version;
        free(pairs.p);
        return failed;
    }
    if (k == &PySet_Type) {
        Shape s = {.form = ITEMS_VALUES, .n = PySet_GET_SIZE(o), .tail = ""};
        HEAD(&s, "\"kind\":\"set\",\"type\":\"set\"");
        if (s.n > t->core->items) { long_tail(&s, room, s.n); s.n = t->core->items; }
        PyObject *item;
        Py_ssize_t at = 0;
        Py_hash_t hash;
        Pys items = {0};
        while (items.n < (size_t)s.n && _PySet_NextEntry(o, &at, &item, &hash)) { hold(t, item); pys_add(&items, item); }
        s.items = items.p;
        s.n = (Py_ssize_t)items.n;
        int failed = settle(t, obj, &s);
        free(items.p);
        return failed;
    }
    if (k == T_rangeiter) {
        int64_t start, stop, step, len;
        range_left(o, &start, &stop, &step, &len);
        Buf *b = &t->scratch;
        size_t at = b->n;
        buf_lit(b, "{\"range\":[");
        buf_int(b, start);
        buf_byte(b, ',');
        buf_int(b, stop);
        buf_byte(b, ',');
        buf_int(b, step);
        buf_lit(b, "]}");
        Content *c = &obj->c;
        Val v = text_val(b->p + at, b->n - at);
        if (!obj->known || !same(c->fields[0].v, v)) {
            Buf *w = &t->objects_text;
            buf_lit(w, ",\"");
            buf_int(w, (int64_t)obj->number);
            buf_lit(w, "\":{");
            if (!obj->known) buf_lit(w, ITERATOR("range_iterator") ",");
            buf_lit(w, "\"fields\":{\"left\":");
            buf_put(w, b->p + at, b->n - at);
            buf_lit(w, "}}");
            if (!c->nf) {
                c->fields = must(malloc(sizeof(Field)));
                c->fields[0].name = Py_NewRef(N_left);
                c->nf = 1;
            }
            obj->known = true;
            c->fields[0].v = v;
        }
        b->n = at;
        return 0;
    }
    if (k == T_listiter || k == T_tupleiter || k == T_asciiiter) {
        SequenceIterator *it = (SequenceIterator *)o;
        PyObject *names[] = {N_over, N_next};
        PyObject *values[] = {Py_NewRef(it->over ? it->over : EMPTY), PyLong_FromSsize_t(it->over ? it->index : 0)};
        return fields_content(t, obj, k == T_listiter ? ITERATOR("list_iterator") : k == T_tupleiter
            ? ITERATOR("tuple_iterator") : ITERATOR("str_ascii_iterator"), 2, names, values);
    }
    if (k == T_dictkeyiter || k == T_dictvalueiter || k == T_dictitemiter || k == T_setiter) {
        uint64_t over;
        double position;
        iterator_place(t, o, &over, &position);
        PyObject *names[] = {N_over, N_left}, *inner = (PyObject *)over;
        PyObject *values[] = {Py_NewRef(inner ? inner : Py_None), PyLong_FromSsize_t(inner ? (Py_ssize_t)-position : 0)};
        return fields_content(t, obj, k == T_dictkeyiter ? ITERATOR("dict_keyiterator") : k == T_dictvalueiter
            ? ITERATOR("dict_valueiterator") : k == T_setiter ? ITERATOR("set_iterator") : ITERATOR("dict_itemiterator"),
            2, names, values);
    }
    if (k == &PyEnum_Type) {
        EnumerateObject *it = (EnumerateObject *)o;
        PyObject *names[] = {N_iterator, N_count};
        PyObject *values[] = {Py_NewRef(it->inner), it->longindex ? Py_NewRef(it->longindex) : PyLong_FromSsize_t(it->index)};
        return fields_content(t, obj, ITERATOR("enumerate"), 2, names, values);
    }
    if (k == &PyZip_Type) {
        PyObject *names[] = {N_iterators}, *values[] = {Py_NewRef(((ZipObject *)o)->iterators)};
        return fields_content(t, obj, ITERATOR("zip"), 1, names, values);
    }
    if (k == &PyFunction_Type) {
        PyFunctionObject *f = (PyFunctionObject *)o;
        if (shares_dict(o)) note_exotic(t, obj);
        bool plain = !(f->func_dict && PyDict_GET_SIZE(f->func_dict)) && PyUnicode_CheckExact(f->func_qualname)
            && PyUnicode_FindChar(f->func_qualname, '>', 0, PyUnicode_GET_LENGTH(f->func_qualname), 1) < 0;
        if (plain && !f->func_defaults && !f->func_kwdefaults) return function_content(t, obj, o);
    } else {
        TypeInfo *info = type_info(t, k);
        if (!info) return -1;
        if (info->mode == M_INSTANCE || info->mode == M_EXCEPTION) {
            if (info->exotic || shares_dict(o)) note_exotic(t, obj);
            return instance_content(t, obj, o, info);
        }
        if (info->mode == M_OPAQUE && obj->known) return 0;
        uint64_t memory = 0;
        if (((info->mode == M_POINTERS && hash_structure(o, &memory)) || (info->mode == M_ARRAY && hash_array(o, &memory))) && !own_dict(o)) {
            int again = obj->known && memory == obj->version && !t->reread && obj->read >= t->replaced_at ? revisit(t, obj) : 1;
            if (again <= 0) return again;
            obj->revisit.n = 0;
            t->revisit = &obj->revisit;
            int failed = python_content(t, obj, o);
            t->revisit = NULL;
            obj->version = memory;
            return failed;
        }
        if (info->mode == M_ARRAY) obj->version = 0;  /* what is written now is not what that stood for */
        if (PyType_Check(o) && ((PyTypeObject *)o)->tp_dict) {
            uint64_t version = class_version((PyTypeObject *)o);
            int again = obj->known && version == obj->version && !t->reread && obj->read >= t->replaced_at ? revisit(t, obj) : 1;
            if (again <= 0) return again;
            obj->revisit.n = 0;
            t->revisit = &obj->revisit;
            int failed = python_content(t, obj, o);
            t->revisit = NULL;
            obj->version = version;
            return failed;
        }
    }
    return python_content(t, obj, o);
}

static int
look_at(Thread *t, Queued q)
{
    size_t from = t->objects_text.n;
    t->looked_at++;
    if (look_into(t, q) < 0) return -1;
    q.obj->read = t->stamp;
    Content *c = &q.obj->c;
    for (size_t i = 0; t->quiet == t->stamp && i < c->nrefs; i++)  /* an owner may have let go of it that was the hint */
        if (!c->refs[i]->hint && c->refs[i] != q.obj) c->refs[i]->hint = q.obj;
    if (t->objects_text.n == from) return 0;
    if (t->nsegments == t->capsegments)
        t->segments = must(realloc(t->segments, (t->capsegments = t->capsegments * 2 + 16) * sizeof *t->segments));
    t->segments[t->nsegments].obj = q.obj;
    t->segments[t->nsegments].number = q.obj->number;
    t->segments[t->nsegments].from = from;
    t->segments[t->nsegments++].to = t->objects_text.n;
    return 0;
}

/* Write that objects are gone, in place of what was said of them in the same event. */
static void
write_gone(Thread *t)
{
    Buf *b = &t->objects_text;
    for (size_t k = 0; k < t->ngone; k++) {
        Buf text = {0};
        buf_lit(&text, ",\"");
        buf_int(&text, (int64_t)t->gone[k]);
        buf_lit(&text, "\":null");
        size_t i = 0;
        while (i < t->nsegments && t->segments[i].number != t->gone[k]) i++;
        if (i < t->nsegments) {
            size_t old = t->segments[i].to - t->segments[i].from;
            buf_room(b, text.n);
            memmove(b->p + t->segments[i].from + text.n, b->p + t->segments[i].to, b->n - t->segments[i].to);
            memcpy(b->p + t->segments[i].from, text.p, text.n);
            b->n = b->n - old + text.n;
            for (size_t j = 0; j < t->nsegments; j++)
                if (t->segments[j].from > t->segments[i].from) {
                    t->segments[j].from = t->segments[j].from - old + text.n;
                    t->segments[j].to = t->segments[j].to - old + text.n;
                }
        } else buf_put(b, text.p, text.n);
        buf_free(&text);
    }
}

/* Follow every reference from the roots (Snapshotter.finish). */
static int
finish(Thread *t)
{
    for (size_t i = 0; i < t->nqueue; i++)
        if (look_at(t, t->queue[i]) < 0) return -1;
    t->nvisited = t->nqueue;
    t->nqueue = 0;
    t->depth = 0;
    return 0;
}
